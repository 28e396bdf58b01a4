package images

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/containerd/sandbox"
	"deployster/internal/base/diag"
)

const (
	maxConfig  = 8 << 20 // bytes of an image's config that are read
	maxAccount = 1 << 20 // bytes of an image's /etc/passwd and /etc/group that are read
)

// Prepared is all that a run needs to know of an image, and that it is
// unpacked. It never changes for a digest.
type Prepared struct {
	Digest digest.Digest
	Chain  string // the snapshot that containers start from
	sandbox.Program
}

// platform matches the images that run here.
func platform() platforms.MatchComparer { return platforms.Default() }

// prepare returns an image by its digest, unpacked and checked, once.
func (store *Store) prepare(ctx context.Context, ref string) (*Prepared, error) {
	dgst := digest.Digest(ref)
	if err := dgst.Validate(); err != nil {
		return nil, diag.Errorf("Not the digest of an image", "%q: %s", ref, err)
	}
	e := store.cache.entry(dgst)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.image != nil {
		return e.image, nil
	}
	record, err := store.findDigest(ctx, dgst)
	if err != nil {
		return nil, store.missing(ctx, ref, err)
	}
	if p, found, ok := store.cache.load(dgst); ok {
		e.image, e.lookups = p, found
		return p, nil
	}
	p, err := store.prepareImage(ctx, record)
	if err != nil {
		return nil, err
	}
	store.cache.save(p, e.lookups)
	e.image = p
	return p, nil
}

func (store *Store) prepareImage(ctx context.Context, record images.Image) (*Prepared, error) {
	p := &Prepared{Digest: record.Target.Digest}
	broken := func(err error) error {
		return diag.Errorf("The image "+familiar(record.Name)+" cannot be run", "%s.", failure.Sentence(err))
	}
	config, err := readConfig(ctx, store.conn.Client.ContentStore(), record)
	if err != nil {
		return nil, broken(err)
	}
	p.Config = config.Config
	if p.Cwd, err = workdir(config.Config.WorkingDir); err != nil {
		return nil, broken(err)
	}
	if err := client.NewImageWithPlatform(store.conn.Client, record, platform()).Unpack(ctx, store.conn.Snapshotter); err != nil {
		return nil, broken(fmt.Errorf("unpacking it: %w", err))
	}
	p.Chain = identity.ChainID(config.RootFS.DiffIDs).String()
	found, err := store.lookUp(ctx, p, lookups{}, []string{p.Config.User}, nil)
	if err != nil {
		return nil, broken(err)
	}
	p.User = found.users[p.Config.User]
	return p, nil
}

// readConfig reads the config of an image for this platform.
func readConfig(ctx context.Context, cs content.Store, record images.Image) (c ocispec.Image, err error) {
	desc, err := record.Config(ctx, cs, platform())
	if errdefs.IsNotFound(err) {
		return c, fmt.Errorf("it is not for the platform %s, or a part of it is missing (%w)", platforms.DefaultString(), err)
	}
	if err != nil {
		return c, err
	}
	if desc.Size > maxConfig {
		return c, fmt.Errorf("its config has %d bytes; %d are allowed", desc.Size, maxConfig)
	}
	b, err := content.ReadBlob(ctx, cs, desc)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("its config is broken: %w", err)
	}
	if c.Architecture != "" && !platform().Match(c.Platform) {
		return c, fmt.Errorf("it is not for the platform %s, but for %s", platforms.DefaultString(), platforms.Format(c.Platform))
	}
	if len(c.RootFS.DiffIDs) == 0 {
		return c, fmt.Errorf("it has no files: its config names no layers")
	}
	return c, nil
}

// workdir checks the working directory that an image asks for. One below /proc
// can be a door to the host (CVE-2024-21626).
func workdir(dir string) (string, error) {
	clean := path.Clean("/" + dir)
	if clean == "/proc" || strings.HasPrefix(clean, "/proc/") || strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("its working directory %q is not allowed", dir)
	}
	return clean, nil
}
