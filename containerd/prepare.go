package containerd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/moby/sys/user"
	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/base/diag"
)

const (
	maxConfig  = 8 << 20 // bytes of an image's config that are read
	maxAccount = 1 << 20 // bytes of an image's /etc/passwd and /etc/group that are read
)

// prepared is all that a run needs to know of an image, and that it is
// unpacked. It never changes for a digest.
type prepared struct {
	digest digest.Digest
	chain  string // the snapshot that containers start from
	config ocispec.ImageConfig
	user   user.ExecUser
	cwd    string
}

// imageCache has what is known of images. The zero value is ready.
type imageCache struct {
	mu      sync.Mutex
	entries map[digest.Digest]*cacheEntry
	kept    map[digest.Digest]bool // has a record by its digest
}

type cacheEntry struct {
	mu    sync.Mutex // held while the image is prepared
	image *prepared
	seen  seen
}

func (c *imageCache) entry(d digest.Digest) *cacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[digest.Digest]*cacheEntry{}
	}
	if c.entries[d] == nil {
		c.entries[d] = &cacheEntry{}
	}
	return c.entries[d]
}

func (c *imageCache) forget(d digest.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, d)
	delete(c.kept, d)
}

func (c *imageCache) isKept(d digest.Digest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[d]
}

func (c *imageCache) keep(d digest.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[digest.Digest]bool{}
	}
	c.kept[d] = true
}

// platform matches the images that run here.
func platform() platforms.MatchComparer { return platforms.Default() }

// prepare gives an image by its digest, unpacked and checked, once.
func (r *Runtime) prepare(ctx context.Context, ref string) (*prepared, error) {
	dgst := digest.Digest(ref)
	if err := dgst.Validate(); err != nil {
		return nil, diag.Errorf("Not the digest of an image", "%q: %s", ref, err)
	}
	e := r.images.entry(dgst)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.image != nil {
		return e.image, nil
	}
	known := func() (ok bool) {
		p, found, ok := r.recall(dgst)
		if ok {
			e.image, e.seen = p, found
		}
		return ok
	}
	// Whoever has resolved it has just seen its record.
	if r.images.isKept(dgst) && known() {
		return e.image, nil
	}
	record, err := r.findDigest(ctx, dgst)
	if err != nil {
		return nil, r.missing(ctx, ref, err)
	}
	if known() {
		return e.image, nil
	}
	p, err := r.prepareImage(ctx, record)
	if err != nil {
		return nil, err
	}
	r.remember(p, e.seen)
	e.image = p
	return p, nil
}

func (r *Runtime) prepareImage(ctx context.Context, record images.Image) (*prepared, error) {
	p := &prepared{digest: record.Target.Digest}
	broken := func(err error) error {
		return diag.Errorf("The image "+familiar(record.Name)+" cannot be run", "%s.", sentence(err))
	}
	config, err := readConfig(ctx, r.client.ContentStore(), record)
	if err != nil {
		return nil, broken(err)
	}
	p.config = config.Config
	if p.cwd, err = workdir(config.Config.WorkingDir); err != nil {
		return nil, broken(err)
	}
	if err := client.NewImageWithPlatform(r.client, record, platform()).Unpack(ctx, r.snapshotter); err != nil {
		return nil, broken(fmt.Errorf("unpacking it: %w", err))
	}
	p.chain = identity.ChainID(config.RootFS.DiffIDs).String()
	found, err := r.look(ctx, p, seen{}, []string{p.config.User}, nil)
	if err != nil {
		return nil, broken(err)
	}
	p.user = found.users[p.config.User]
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
