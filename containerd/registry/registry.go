package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/containerd/containerd/v2/core/remotes/docker/config"
	"github.com/containerd/errdefs"
	"github.com/pelletier/go-toml/v2"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/runner/imagestore"
)

// Options say how registries are reached. Proxies are those of the
// environment: HTTPS_PROXY, HTTP_PROXY, NO_PROXY.
type Options struct {
	// DockerConfig is docker's config.json, for credentials; it need not exist.
	// "" = no credentials.
	DockerConfig string
	// CertDirs are searched in order for a directory of a registry's name, with
	// a hosts.toml of containerd's or certificates as docker has them.
	CertDirs []string
	// MaxImage is how many bytes one image may have, compressed, as it comes
	// from a registry; 0 = DefaultMaxImage.
	MaxImage int64
	// Progress is told what a pull is doing, from any goroutine; nil = nobody.
	Progress func(imagestore.Progress)
}

// DefaultMaxImage is the largest image that is pulled, in bytes.
const DefaultMaxImage = 16 << 30

// Client reaches registries. The zero value is not ready.
type Client struct {
	Options Options

	mu    sync.Mutex
	store *credentials.DynamicStore
	used  map[string]string // host -> the user whose credential was used, "" for a token
}

// New fills in the defaults.
func New(o Options) *Client {
	if o.MaxImage <= 0 {
		o.MaxImage = DefaultMaxImage
	}
	return &Client{Options: o, used: map[string]string{}}
}

// Resolver speaks with the registries of one command.
func (c *Client) Resolver(ctx context.Context) remotes.Resolver {
	return docker.NewResolver(docker.ResolverOptions{Hosts: c.hosts(ctx)})
}

// hosts says where a registry is and how it is spoken with.
func (c *Client) hosts(ctx context.Context) docker.RegistryHosts {
	configured := config.ConfigureHosts(ctx, config.HostOptions{
		HostDir:     c.hostDir,
		Credentials: func(host string) (string, string, error) { return c.credential(ctx, host) },
		DefaultTLS:  nil, // only what a host's directory says
		UpdateClient: func(h *http.Client) error {
			if t, ok := h.Transport.(*http.Transport); ok && t.TLSClientConfig != nil {
				t.TLSClientConfig.MinVersion = tls.VersionTLS12
			}
			return nil
		},
	})
	return func(host string) ([]docker.RegistryHost, error) {
		hosts, err := configured(host)
		if told, ok := errors.AsType[*diag.Diagnostic](err); ok {
			return nil, told
		} else if err != nil {
			return nil, diag.Errorf("The settings for the registry "+host+" cannot be used",
				"%s. They are in a directory of that name below %s.", failure.Sentence(err), c.hostDirs())
		}
		return hosts, nil
	}
}

// hostDir finds the directory with the settings of a registry.
func (c *Client) hostDir(host string) (string, error) {
	for _, root := range c.Options.CertDirs {
		dir, err := config.HostDirFromRoot(root)(host)
		if err == nil {
			err = checkHostsFile(dir)
		}
		if err == nil || !errdefs.IsNotFound(err) {
			return dir, err
		}
	}
	return "", errdefs.ErrNotFound
}

// credential looks up what docker would send to a registry. An empty user with
// a secret is a token.
func (c *Client) credential(ctx context.Context, host string) (user, secret string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store == nil {
		if c.Options.DockerConfig == "" {
			return "", "", nil
		}
		c.store, err = credentials.NewStore(c.Options.DockerConfig, credentials.StoreOptions{})
		if err != nil {
			return "", "", diag.Errorf("The credentials for registries cannot be read",
				"The credentials in %s cannot be read: %s. It must be docker's config.json; `docker login` writes it.", c.Options.DockerConfig,
				failure.Sentence(err))
		}
	}
	found, err := c.store.Get(ctx, credentials.ServerAddressFromHostname(host))
	if err != nil {
		return "", "", diag.Errorf("The credential for "+host+" cannot be had",
			"The credential for %s cannot be had as %s says: %s. If it is from a credential helper (credHelpers, credsStore), install or "+
				"repair that; if not, `docker login %s` writes it anew.", host, c.Options.DockerConfig, failure.Sentence(err), host)
	}
	switch {
	case found == auth.EmptyCredential:
		return "", "", nil
	case found.RefreshToken != "":
		user, secret = "", found.RefreshToken
	default:
		user, secret = found.Username, found.Password
	}
	c.used[host] = user
	return user, secret, nil
}

// CredentialText says in words which credential was used for a host.
func (c *Client) CredentialText(host string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{host, "registry-1." + host} {
		if user, ok := c.used[name]; ok && user != "" {
			return fmt.Sprintf("The credential of the user %q in %s was used", user, c.Options.DockerConfig)
		} else if ok {
			return fmt.Sprintf("The token in %s was used", c.Options.DockerConfig)
		}
	}
	if c.Options.DockerConfig == "" {
		return "No credential was used"
	}
	return fmt.Sprintf("No credential was used, because %s has none for %s", c.Options.DockerConfig, host)
}

// hostDirs lists where the settings of registries are looked for.
func (c *Client) hostDirs() string { return strings.Join(c.Options.CertDirs, " or ") }

// CertDir is where to put the settings of a registry.
func (c *Client) CertDir(host string) string {
	if len(c.Options.CertDirs) == 0 {
		return host
	}
	return c.Options.CertDirs[len(c.Options.CertDirs)-1] + "/" + host
}

// hostsFile are the settings of a registry, as far as mistakes in them would go
// unseen: containerd's library ignores a file that it cannot read, and then asks
// another host than was meant, or in another way.
type hostsFile struct {
	Server       string         `toml:"server"`
	Capabilities []string       `toml:"capabilities"`
	SkipVerify   *bool          `toml:"skip_verify"`
	OverridePath *bool          `toml:"override_path"`
	Header       map[string]any `toml:"header"`
	Hosts        map[string]struct {
		Capabilities []string       `toml:"capabilities"`
		SkipVerify   *bool          `toml:"skip_verify"`
		OverridePath *bool          `toml:"override_path"`
		Header       map[string]any `toml:"header"`
	} `toml:"host"`
}

// checkHostsFile refuses a hosts.toml that would be ignored.
func checkHostsFile(dir string) error {
	name := filepath.Join(dir, "hosts.toml")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return diag.Errorf("The settings of a registry cannot be read", "%s.", failure.Sentence(err))
	}
	var hosts hostsFile
	if err := toml.Unmarshal(text, &hosts); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			return diag.Errorf("A mistake in the settings of a registry", "%s:%d:%d: %s. The registry was not asked: without these settings it "+
				"might be another one.\n%s", name, line, column, at.Error(), at.String())
		}
		return diag.Errorf("A mistake in the settings of a registry", "%s: %s.", name, err)
	}
	lists := [][]string{hosts.Capabilities}
	for _, h := range hosts.Hosts {
		lists = append(lists, h.Capabilities)
	}
	for _, capability := range slices.Concat(lists...) {
		if !slices.Contains([]string{"pull", "resolve", "push", "referrers"}, capability) {
			return diag.Errorf("A mistake in the settings of a registry", "%s: %q is no capability; there are pull, resolve, push and referrers.",
				name, diag.Visible(capability))
		}
	}
	return nil
}
