package containerd

import (
	"context"
	"errors"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"deployster/containerd/elsewhere"
	"deployster/internal/runtime/runner"
)

// An image for clusters alone is fetched without its layers. It is not on this machine, until it is wanted
// here: then its layers are fetched too.
func TestObtain_RemoteImageWithoutItsLayers(t *testing.T) {
	t.Parallel()
	away, err := elsewhere.Open(t.TempDir(), elsewhere.RegistryOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = away.Close() })
	here := open(t, embedded(t))
	for name, r := range map[string]interface {
		runner.Runner
		Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error)
	}{"elsewhere": away, "containerd": here} {
		v := &variants{contents: map[string][]byte{}, types: map[string]string{}, fetched: map[string]int{}}
		server := httptest.NewServer(v)
		defer server.Close()
		manifest, layer := v.image(t, runtime.GOARCH)
		d := manifest["digest"].(string)
		v.contents["1"], v.types["1"] = v.contents[d], v.types[d]
		ref := strings.TrimPrefix(server.URL, "http://") + "/acme/db:1"
		for range 2 { // the second time from here
			image, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref, Remote: true})
			if err != nil || image.Digest != d || !image.Pulled || v.fetched[layer] != 0 {
				t.Fatalf("%s: %+v, %v, fetched %v", name, image, err, v.fetched)
			}
		}
		asked := v.fetched[d]
		if _, err := r.Resolve(t.Context(), ref); !errors.Is(err, runner.ErrNoImage) {
			t.Errorf("%s: it counts as here: %v", name, err)
		}
		if _, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref, Pull: runner.PullNever}); err == nil {
			t.Errorf("%s: it counts as here without a pull", name)
		}
		if asked != v.fetched[d] {
			t.Errorf("%s: a registry was queried again", name)
		}
		image, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref})
		if err != nil || image.Digest != d || v.fetched[layer] != 1 {
			t.Errorf("%s: %+v, %v, fetched %v", name, image, err, v.fetched)
		}
		if _, err := r.Resolve(t.Context(), ref); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if image, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref, Remote: true, Pull: runner.PullAlways}); err != nil || image.Digest != d {
			t.Errorf("%s: %+v, %v", name, image, err)
		}
		if _, err := r.Resolve(t.Context(), ref); err != nil {
			t.Errorf("%s: it lost its layers: %v", name, err)
		}
	}
}

// Whether an image for clusters is one for this machine does not matter: the nodes may be others.
func TestObtain_RemoteImageOfAnotherArchitecture(t *testing.T) {
	t.Parallel()
	r, err := elsewhere.Open(t.TempDir(), elsewhere.RegistryOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	v := &variants{contents: map[string][]byte{}, types: map[string]string{}, fetched: map[string]int{}}
	server := httptest.NewServer(v)
	defer server.Close()
	other, _ := v.image(t, "riscv64")
	third, _ := v.image(t, "s390x")
	const indexType = "application/vnd.oci.image.index.v1+json"
	index := v.putJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []any{third, other}})
	for tag, content := range map[string]any{"one": other["digest"], "two": index["digest"]} {
		v.contents[tag], v.types[tag] = v.contents[content.(string)], v.types[content.(string)]
	}
	ref := strings.TrimPrefix(server.URL, "http://") + "/acme/db:"
	for tag, want := range map[string]string{"one": "linux/riscv64", "two": "linux/s390x linux/riscv64"} {
		image, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref + tag, Remote: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Named(t.Context(), image.Digest)
		if got := strings.Join(s.Platforms, " "); err != nil || got != want || s.Name != ref+tag {
			t.Errorf("%s: %+v, %v", tag, s, err)
		}
		if _, err := r.Obtain(t.Context(), runner.Wanted{Reference: ref + tag}); err == nil {
			t.Errorf("%s: it is one for this machine", tag)
		}
	}
}
