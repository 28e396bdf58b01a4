package containerd

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	digest "github.com/opencontainers/go-digest"
)

// variants is a registry that has images for some architectures each, and counts what is
// fetched of its contents.
type variants struct {
	contents map[string][]byte // by digest, or by tag
	types    map[string]string
	fetched  map[string]int
}

func (v *variants) put(mediaType string, content []byte) map[string]any {
	d := digest.FromBytes(content).String()
	v.contents[d], v.types[d] = content, mediaType
	return map[string]any{"mediaType": mediaType, "digest": d, "size": len(content)}
}

func (v *variants) putJSON(mediaType string, value map[string]any) map[string]any {
	content, _ := json.Marshal(value) // of texts and numbers
	return v.put(mediaType, content)
}

// image adds one for an architecture, whose only file says which, and returns its manifest.
func (v *variants) image(t *testing.T, arch string) (manifest map[string]any, layer string) {
	t.Helper()
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Name: arch, Mode: 0o644, Size: int64(len(arch))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(arch)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	of := v.put("application/vnd.oci.image.layer.v1.tar", files.Bytes())
	config := v.putJSON("application/vnd.oci.image.config.v1+json", map[string]any{"os": "linux", "architecture": arch,
		"config": map[string]any{"Entrypoint": []any{"/run"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []any{of["digest"]}}})
	manifest = v.putJSON("application/vnd.oci.image.manifest.v1+json", map[string]any{"schemaVersion": 2,
		"mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": []any{of}})
	manifest["platform"] = map[string]any{"os": "linux", "architecture": arch}
	return manifest, of["digest"].(string)
}

func (v *variants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	content, found := v.contents[what]
	if r.URL.Path != "/v2/" && !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", v.types[what])
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Header().Set("Docker-Content-Digest", digest.FromBytes(content).String())
	if r.Method == http.MethodGet {
		v.fetched[what]++
		_, _ = w.Write(content) // who does not listen any more has gone
	}
}

// A pull fetches what this machine needs. What a host of another architecture needs is
// fetched for the first of them, stays, and is sent from here.
func TestShipment_ForAnotherArchitecture(t *testing.T) {
	t.Parallel()
	v := &variants{contents: map[string][]byte{}, types: map[string]string{}, fetched: map[string]int{}}
	server := httptest.NewServer(v)
	defer server.Close()
	own, _ := v.image(t, runtime.GOARCH)
	other, layer := v.image(t, "riscv64")
	const indexType = "application/vnd.oci.image.index.v1+json"
	index := v.putJSON(indexType, map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []any{own, other}})
	v.contents["1"], v.types["1"] = v.contents[index["digest"].(string)], indexType

	r := open(t, embedded(t))
	ctx := context.Background()
	image, err := r.Images.Pull(ctx, strings.TrimPrefix(server.URL, "http://")+"/acme/many:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Images.ReadContent(ctx, layer, 0, 1); err == nil {
		t.Error("what this machine does not need was fetched")
	}
	named, err := r.Images.Named(ctx, image.Digest)
	if err != nil || named.Name != image.Name || named.Digest != image.Digest ||
		!slices.Equal(named.Platforms, []string{"linux/" + runtime.GOARCH, "linux/riscv64"}) || !slices.Equal(named.Entrypoint, []string{"/run"}) {
		t.Errorf("named: %+v, %v", named, err)
	}
	for range 2 {
		if _, err := r.Images.Shipment(ctx, image.Digest, "riscv64"); err != nil {
			t.Fatal(err)
		}
		content, err := r.Images.ReadContent(ctx, layer, 0, 1<<20)
		if err != nil || !bytes.Equal(content, v.contents[layer]) || v.fetched[layer] != 1 {
			t.Errorf("%d bytes, fetched %d times: %v", len(content), v.fetched[layer], err)
		}
	}
	if _, err := r.Images.Shipment(ctx, image.Digest, "s390x"); err == nil || !strings.Contains(err.Error(), "not for the platform linux/s390x, but for linux/") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Images.Shipment(ctx, image.Digest, runtime.GOARCH); err != nil {
		t.Error(err)
	}
}
