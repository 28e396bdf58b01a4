package containerd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/bundled"
)

// taker is a registry that takes what is pushed.
type taker struct {
	mu       sync.Mutex
	contents map[string][]byte // by digest, or by tag
}

func (r *taker) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(q.Body) // what is missing is seen by the test
	last := q.URL.Path[strings.LastIndex(q.URL.Path, "/")+1:]
	switch {
	case q.URL.Path == "/v2/":
	case q.Method == http.MethodPost:
		w.Header().Set("Location", q.URL.Path+"upload")
		w.WriteHeader(http.StatusAccepted)
	case q.Method == http.MethodPut:
		if d := q.URL.Query().Get("digest"); d != "" {
			last = d
		}
		r.contents[last], r.contents[digest.FromBytes(body).String()] = body, body
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(body).String())
		w.WriteHeader(http.StatusCreated)
	case r.contents[last] == nil:
		http.NotFound(w, q)
	}
}

// The image of an agent comes to a registry with the contents of all its platforms, under the name of
// the user, and its digest is that of the installed one.
func TestPush_BringsAllPlatformsOfOwnImages(t *testing.T) {
	libexec := t.TempDir()
	t.Setenv("DEPLOYSTER_LIBEXEC", libexec)
	layout := filepath.Join(libexec, "images", "tool")
	if err := bundled.Write(layout, "tool", map[string]string{"amd64": "/bin/true", "arm64": "/bin/false", "riscv64": "/bin/sh"}, nil); err != nil {
		t.Fatal(err)
	}
	there := &taker{contents: map[string][]byte{}}
	server := httptest.NewServer(there)
	defer server.Close()
	r := open(t, embedded(t))
	name := strings.TrimPrefix(server.URL, "http://") + "/ops/agent"
	image, err := r.Images.Push(context.Background(), "deployster/tool", name)
	if err != nil || image.Name != name+":latest" {
		t.Fatalf("%+v, %v", image, err)
	}
	var index ocispec.Index
	if err := json.Unmarshal(there.contents[image.Digest], &index); err != nil || len(index.Manifests) != 3 {
		t.Fatalf("%+v, %v", index, err)
	}
	for _, m := range index.Manifests {
		var manifest ocispec.Manifest
		if err := json.Unmarshal(there.contents[m.Digest.String()], &manifest); err != nil {
			t.Fatal(err)
		}
		for _, d := range append(manifest.Layers, manifest.Config) {
			if int64(len(there.contents[d.Digest.String()])) != d.Size {
				t.Errorf("%s: %d bytes of %s came", m.Platform.Architecture, len(there.contents[d.Digest.String()]), d.Digest)
			}
		}
	}
	for _, to := range []string{"deployster/pod", name + "@" + image.Digest} {
		if _, err := r.Images.Push(context.Background(), "deployster/tool", to); err == nil {
			t.Errorf("it was pushed as %s", to)
		}
	}
	if _, err := r.Images.Push(context.Background(), "deployster/none", name); err == nil || !strings.Contains(err.Error(), "not installed with this deployster") {
		t.Errorf("what is not installed: %v", err)
	}
}
