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
	"deployster/internal/runtime/runner/imagestore"
)

// Options declare how registries are reached. Proxies come from the environment: HTTPS_PROXY,
// HTTP_PROXY, NO_PROXY.
type Options struct {
	// DockerConfig is docker's config.json, for credentials; it need not exist.
	// "" = no credentials.
	DockerConfig string
	// CertDirs are searched in order for a directory with a registry's name, which has a
	// hosts.toml of containerd or certificates in docker's layout.
	CertDirs []string
	// MaxImage is how many bytes the layers of one image may have, compressed, as they
	// come from a registry; 0 = DefaultMaxImage.
	MaxImage int64
	// Progress is called with the progress of a pull, from any goroutine; nil = not needed.
	Progress func(imagestore.Progress)
}

// DefaultMaxImage is the default for the size of the largest image that is pulled, in bytes.
const DefaultMaxImage = 16 << 30

// Client reaches registries. Use New to create one.
type Client struct {
	Options Options

	mu    sync.Mutex
	store *credentials.DynamicStore
	used  map[string]string // host -> the user whose credential was used, "" for a token
}

// New returns a client with defaults for empty options.
func New(o Options) *Client {
	if o.MaxImage <= 0 {
		o.MaxImage = DefaultMaxImage
	}
	return &Client{Options: o, used: map[string]string{}}
}

// Resolver returns a resolver for the registries of one command.
func (c *Client) Resolver(ctx context.Context) remotes.Resolver {
	return docker.NewResolver(docker.ResolverOptions{Hosts: c.hosts(ctx)})
}

// hosts returns a function that returns the hosts of a registry, and how to reach them.
func (c *Client) hosts(ctx context.Context) docker.RegistryHosts {
	configured := config.ConfigureHosts(ctx, config.HostOptions{
		HostDir:     c.hostDir,
		Credentials: func(host string) (string, string, error) { return c.credential(ctx, host) },
		DefaultTLS:  nil, // only the certificates in a host's directory
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

// hostDir returns the directory with the settings of a registry.
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

// credential returns the credential that docker would send to a registry. An empty user
// with a secret means that the secret is a token.
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
				"The credentials in %s cannot be read: %s. It must be docker's config.json; `docker login` writes "+
					"it.", c.Options.DockerConfig,
				failure.Sentence(err))
		}
	}
	found, err := c.store.Get(ctx, credentials.ServerAddressFromHostname(host))
	if err != nil {
		return "", "", diag.Errorf("The credential for "+host+" cannot be found",
			"The credential for %s, which %s names, cannot be read: %s. If it is from a credential helper (credHelpers, credsStore), "+
				"install or repair that; if not, `docker login %s` writes it "+
				"again.", host, c.Options.DockerConfig, failure.Sentence(err), host)
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

// CredentialText describes which credential was used for a host.
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

// hostDirs lists the directories that are searched for the settings of registries.
func (c *Client) hostDirs() string { return strings.Join(c.Options.CertDirs, " or ") }

// CertDir returns the directory where a user should put the settings of a registry.
func (c *Client) CertDir(host string) string {
	if len(c.Options.CertDirs) == 0 {
		return host
	}
	return c.Options.CertDirs[len(c.Options.CertDirs)-1] + "/" + host
}

// hostsFile has the settings of a registry in which mistakes would go unnoticed:
// containerd's library ignores a file that it cannot read, and then queries another host
// than the user intended, or in another way.
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

// checkHostsFile returns an error for a hosts.toml that containerd's library would ignore.
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
			return diag.Errorf("A mistake in the settings of a registry", "%s:%d:%d: %s. The registry was not queried: without these "+
				"settings it might be another one.\n%s", name, line, column, at.Error(), at.String())
		}
		return diag.Errorf("A mistake in the settings of a registry", "%s: %s.", name, err)
	}
	lists := [][]string{hosts.Capabilities}
	for _, h := range hosts.Hosts {
		lists = append(lists, h.Capabilities)
	}
	for _, capability := range slices.Concat(lists...) {
		if !slices.Contains([]string{"pull", "resolve", "push", "referrers"}, capability) {
			return diag.Errorf("A mistake in the settings of a registry", "%s: %q is not a capability; there are pull, resolve, push "+
				"and referrers.",
				name, diag.Visible(capability))
		}
	}
	return nil
}
