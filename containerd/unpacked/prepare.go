package unpacked

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/moby/sys/user"
	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/identity"

	"deployster/containerd/failure"
	stored "deployster/containerd/images"
	"deployster/containerd/images/transfer"
	"deployster/containerd/sandbox"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

const (
	maxAccount = 1 << 20 // bytes of an image's /etc/passwd and /etc/group that are read
)

// Prepared is everything that a run needs to know of an image that is unpacked. It never
// changes for a digest.
type Prepared struct {
	Digest digest.Digest `json:"digest"`
	Chain  string        `json:"chain"` // the snapshot that containers start from
	sandbox.Program
}

// prepare returns an image by its digest, unpacked and checked; it does that work only once.
func (x *Images) prepare(ctx context.Context, ref string) (*Prepared, error) {
	dgst := digest.Digest(ref)
	if err := dgst.Validate(); err != nil {
		return nil, diag.Errorf("Not the digest of an image", "%q: %s", ref, err)
	}
	e := x.cache.entry(dgst)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.image != nil {
		return e.image, nil
	}
	record, err := x.Record(ctx, dgst)
	if err != nil {
		return nil, err
	}
	if p, found, ok := x.cache.load(dgst); ok {
		e.image, e.lookups = p, found
		return p, nil
	}
	p, err := x.prepareImage(ctx, record)
	if err != nil {
		return nil, err
	}
	x.cache.save(p, e.lookups)
	e.image = p
	return p, nil
}

func (x *Images) prepareImage(ctx context.Context, record images.Image) (*Prepared, error) {
	p := &Prepared{Digest: record.Target.Digest}
	broken := func(err error) error {
		return diag.Because(err, "The image "+transfer.Familiar(record.Name)+" cannot be run", "%s.", failure.Sentence(err))
	}
	config, err := stored.ReadConfig(ctx, x.conn.Client.ContentStore(), record)
	if err != nil {
		return nil, broken(err)
	}
	p.Config = config.Config
	if p.Cwd, err = workdir(config.Config.WorkingDir); err != nil {
		return nil, broken(err)
	}
	p.Chain = identity.ChainID(config.RootFS.DiffIDs).String()
	unpack := func() (lookups, error) {
		image := client.NewImageWithPlatform(x.conn.Client, record, transfer.Platform())
		if err := image.Unpack(ctx, x.conn.Snapshotter); err != nil {
			return lookups{}, fmt.Errorf("unpacking it: %w", err)
		}
		return x.lookUp(ctx, p, lookups{}, []string{p.Config.User}, nil, checkScripts)
	}
	found, err := unpack()
	if errdefs.IsNotFound(err) {
		// The image was removed and has returned: its layers were still unpacked, for a
		// container that has ended meanwhile. Now the image refers to them, so they stay.
		found, err = unpack()
	}
	if err != nil {
		return nil, broken(err)
	}
	p.User = found.users[p.Config.User]
	return p, nil
}

// workdir checks the working directory in an image's config. One below /proc can give
// access to the host (CVE-2024-21626).
func workdir(dir string) (string, error) {
	clean := path.Clean("/" + dir)
	if clean == "/proc" || strings.HasPrefix(clean, "/proc/") || strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("its working directory %q is not allowed", dir)
	}
	return clean, nil
}

// What is known of an image never changes for its digest, and finding it out takes a
// dozen requests and two mounts. So it is cached in files next to the embedded
// containerd's, for the next command. A lost file costs only that time. A cached snapshot
// that no longer exists is noticed when a container is to start from it; then the cached
// file is removed.

// cacheFormat is raised when the cached content changes.
const cacheFormat = 1

// maxCached is how many users, places and paths are cached of an image; with more,
// nothing more is cached.
const maxCached = 256

// cacheFile is the content of a cache file.
type cacheFile struct {
	Format      int    `json:"format"`
	Snapshotter string `json:"snapshotter"`
	Prepared
	Users  map[string]user.ExecUser `json:"users,omitempty"`
	Places map[string]string        `json:"places,omitempty"`
	Has    map[string]bool          `json:"has,omitempty"`
}

// imageCache has what is known of images, in this process and in files.
type imageCache struct {
	dir         string // of the files; "" = nothing is cached in files
	snapshotter string

	mu      sync.Mutex
	entries map[digest.Digest]*cacheEntry
}

type cacheEntry struct {
	mu      sync.Mutex // held while the image is prepared
	image   *Prepared
	lookups lookups
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

// path returns the path of a cache file. It is "" if nothing is cached: for an external
// containerd there is no directory that only root can write.
func (c *imageCache) path(d digest.Digest) string {
	if c.dir == "" {
		return ""
	}
	return filepath.Join(c.dir, d.Encoded()+".json")
}

// load returns what is cached of an image, if anything.
func (c *imageCache) load(d digest.Digest) (*Prepared, lookups, bool) {
	path := c.path(d)
	if path == "" {
		return nil, lookups{}, false
	}
	var k cacheFile
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &k) != nil || k.Format != cacheFormat ||
		k.Digest != d || k.Snapshotter != c.snapshotter || k.Chain == "" {
		return nil, lookups{}, false // torn by a crash, or outdated: it is found out again
	}
	return &k.Prepared, lookups{users: k.Users, places: k.Places, has: k.Has}, true
}

// save caches what is known of an image. A failure does no harm.
func (c *imageCache) save(p *Prepared, s lookups) {
	path := c.path(p.Digest)
	if path == "" || len(s.users)+len(s.places)+len(s.has) > maxCached {
		return
	}
	content, err := json.Marshal(cacheFile{Format: cacheFormat, Snapshotter: c.snapshotter, Prepared: *p, Users: s.users, Places: s.places,
		Has: s.has})
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = durable.WriteUnsynced(path, content, 0o600)
	}
}

// forget drops what is cached of an image.
func (c *imageCache) forget(d digest.Digest) {
	c.mu.Lock()
	delete(c.entries, d)
	c.mu.Unlock()
	if path := c.path(d); path != "" {
		_ = os.Remove(path) // mostly there is no file
	}
}
