package images

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/moby/sys/user"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/sandbox"
	"deployster/internal/base/durable"
)

// What is known of an image never changes for its digest, and finding it out
// takes a dozen requests and two mounts. So it is kept beside the embedded
// containerd's files, for the next command. Losing it costs that time; a
// snapshot that it names and that is gone is noticed when a container is to
// start from it, and then it is forgotten.

// cacheFormat is raised when what is found out changes.
const cacheFormat = 1

// maxCached is how many users and places are kept of an image; more are looked up
// each time.
const maxCached = 256

// cacheFile is such a file.
type cacheFile struct {
	Format      int                      `json:"format"`
	Digest      digest.Digest            `json:"digest"`
	Snapshotter string                   `json:"snapshotter"`
	Chain       string                   `json:"chain"`
	Config      ocispec.ImageConfig      `json:"config"`
	User        user.ExecUser            `json:"user"`
	Cwd         string                   `json:"cwd"`
	Users       map[string]user.ExecUser `json:"users,omitempty"`
	Places      map[string]string        `json:"places,omitempty"`
}

// imageCache has what is known of images, in this process and in files.
type imageCache struct {
	dir         string // of the files; "" = there are none
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

// path is "" where nothing is kept: an external containerd has no place for
// it that only root can write.
func (c *imageCache) path(d digest.Digest) string {
	if c.dir == "" {
		return ""
	}
	return filepath.Join(c.dir, d.Encoded()+".json")
}

// load returns what was kept of an image, if it was.
func (c *imageCache) load(d digest.Digest) (*Prepared, lookups, bool) {
	path := c.path(d)
	if path == "" {
		return nil, lookups{}, false
	}
	var k cacheFile
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &k) != nil || k.Format != cacheFormat ||
		k.Digest != d || k.Snapshotter != c.snapshotter || k.Chain == "" {
		return nil, lookups{}, false // a crash may have torn it: then it is found out again
	}
	program := sandbox.Program{Config: k.Config, User: k.User, Cwd: k.Cwd}
	return &Prepared{Digest: d, Chain: k.Chain, Program: program}, lookups{users: k.Users, places: k.Places}, true
}

// save keeps what is known of an image. That it cannot be kept is no harm.
func (c *imageCache) save(p *Prepared, s lookups) {
	path := c.path(p.Digest)
	if path == "" || len(s.users)+len(s.places) > maxCached {
		return
	}
	content, err := json.Marshal(cacheFile{Format: cacheFormat, Digest: p.Digest, Snapshotter: c.snapshotter, Chain: p.Chain,
		Config: p.Config, User: p.User, Cwd: p.Cwd, Users: s.users, Places: s.places})
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = durable.WriteUnsynced(path, content, 0o600)
	}
}

// forget forgets an image.
func (c *imageCache) forget(d digest.Digest) {
	c.mu.Lock()
	delete(c.entries, d)
	c.mu.Unlock()
	if path := c.path(d); path != "" {
		_ = os.Remove(path) // mostly there is none
	}
}
