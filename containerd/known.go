package containerd

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/moby/sys/user"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// What is known of an image never changes for its digest, and finding it out
// takes a dozen requests and two mounts. So it is kept beside the embedded
// containerd's files, for the next command. Losing it costs that time; a
// snapshot that it names and that is gone is noticed when a container is to
// start from it, and then it is forgotten.

// knownFormat is raised when what is found out changes.
const knownFormat = 1

// maxKnown is how many users and places are kept of an image; more are looked up
// each time.
const maxKnown = 256

// known is such a file.
type known struct {
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

// knownPath is "" where nothing is kept: an external containerd has no place for
// it that only root can write.
func (r *Runtime) knownPath(d digest.Digest) string {
	if !r.embedded {
		return ""
	}
	return filepath.Join(r.dataDir, "images", d.Encoded()+".json")
}

// recall gives what was kept of an image, if it was.
func (r *Runtime) recall(d digest.Digest) (*prepared, seen, bool) {
	path := r.knownPath(d)
	if path == "" {
		return nil, seen{}, false
	}
	var k known
	content, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(content, &k) != nil || k.Format != knownFormat || k.Digest != d || k.Snapshotter != r.snapshotter || k.Chain == "" {
		return nil, seen{}, false // a crash may have torn it: then it is found out again
	}
	return &prepared{digest: d, chain: k.Chain, config: k.Config, user: k.User, cwd: k.Cwd}, seen{users: k.Users, places: k.Places}, true
}

// remember keeps what is known of an image. That it cannot be kept is no harm.
func (r *Runtime) remember(p *prepared, s seen) {
	path := r.knownPath(p.digest)
	if path == "" || len(s.users)+len(s.places) > maxKnown {
		return
	}
	keepFile(path, known{Format: knownFormat, Digest: p.digest, Snapshotter: r.snapshotter, Chain: p.chain, Config: p.config,
		User: p.user, Cwd: p.cwd, Users: s.users, Places: s.places})
}

// keepFile writes what may be lost: it is not synced, and readers must do with
// none, or with one that a crash has torn.
func keepFile(path string, v any) {
	content, err := json.Marshal(v)
	if err != nil || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), path) != nil {
		_ = os.Remove(f.Name()) // it was for this only
	}
}

// forgetImage is called when an image is not any more what was known of it: it
// is gone, or its files are.
func (r *Runtime) forgetImage(d digest.Digest) {
	r.images.forget(d)
	if path := r.knownPath(d); path != "" {
		_ = os.Remove(path) // mostly there is none
	}
}
