package containerd

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/containerd/v2/core/leases"

	"deployster/internal/runtime/runner"
)

// An image that is imported by a name that was pulled is a local one from then on.
func TestImport_OverAPulledName(t *testing.T) {
	t.Parallel()
	v := &variants{contents: map[string][]byte{}, types: map[string]string{}, fetched: map[string]int{}}
	server := httptest.NewServer(v)
	defer server.Close()
	manifest, _ := v.image(t, runtime.GOARCH)
	d := manifest["digest"].(string)
	v.contents["1"], v.types["1"] = v.contents[d], v.types[d]
	r := open(t, embedded(t))
	ctx, name := context.Background(), strings.TrimPrefix(server.URL, "http://")+"/acme/db:1"
	if image, err := r.Images.Obtain(ctx, runner.Wanted{Reference: name}); err != nil || !image.Pulled {
		t.Fatalf("got %+v, %v", image, err)
	}
	local := dockerArchive(t, name, nil, object{"Entrypoint": []string{"/bin/true"}})
	if _, err := r.Images.Import(ctx, bytes.NewReader(local), noneElsewhere(t)); err != nil {
		t.Fatal(err)
	}
	if image, err := r.Images.Obtain(ctx, runner.Wanted{Reference: name}); err != nil || image.Pulled || image.Digest == d {
		t.Errorf("got %+v, %v", image, err)
	}
}

// Where another pull of the same image ends while this one goes on, this one goes on.
func TestPull_WhileAnotherEnds(t *testing.T) {
	t.Parallel()
	v := &variants{contents: map[string][]byte{}, types: map[string]string{}, fetched: map[string]int{}}
	manifest, layer := v.image(t, runtime.GOARCH)
	d := manifest["digest"].(string)
	v.contents["1"], v.types["1"] = v.contents[d], v.types[d]
	r := open(t, embedded(t))
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, layer) {
			once.Do(func() { // what the other does at its end
				_, id, _ := strings.Cut(d, ":")
				err := r.conn.Client.LeasesService().Delete(r.conn.Context(context.Background()), leases.Lease{ID: "deployster-pull-" + id})
				if err != nil {
					t.Error(err)
				}
			})
		}
		v.ServeHTTP(w, req)
	}))
	defer server.Close()
	if _, err := r.Images.Pull(context.Background(), strings.TrimPrefix(server.URL, "http://")+"/acme/db:1"); err != nil {
		t.Error(err)
	}
}
