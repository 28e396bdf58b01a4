package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rogpeppe/go-internal/testscript"
)

// makeArchive writes what docker and its friends export, without any of their
// code: a tar with one image of one layer.
func makeArchive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: archive oci|docker FILE NAME DIR [CONFIG]")
	}
	ts.Check(os.Chmod(ts.MkAbs(args[3]+"/type"), 0o755))
	addBusybox(ts, ts.MkAbs(args[3]))
	layer, err := tarOf(os.DirFS(ts.MkAbs(args[3])))
	ts.Check(err)
	container := map[string]any{"Entrypoint": []string{"/type"}}
	if len(args) == 5 {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[4])), &container))
	}
	config := asJSON(ts, map[string]any{"os": "linux", "architecture": runtime.GOARCH, "config": container,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digestOf(layer)}}})
	var files []archived
	switch args[0] {
	case "oci":
		files = ociLayout(ts, args[2], config, layer)
	case "docker":
		name := digestOf(config)[len("sha256:"):] + ".json"
		files = []archived{{"manifest.json", asJSON(ts, []any{map[string]any{"Config": name, "RepoTags": []string{args[2]},
			"Layers": []string{"layer/layer.tar"}}})},
			{name, config}, {"layer/layer.tar", layer}}
	default:
		ts.Fatalf("no such kind of archive: %s", args[0])
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		ts.Check(w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content))}))
		_, err := w.Write(f.content)
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644))
}

type archived struct {
	name    string
	content []byte
}

// ociLayout gives the files of an OCI image layout.
func ociLayout(ts *testscript.TestScript, name string, config, layer []byte) []archived {
	describe := func(kind string, b []byte) map[string]any {
		return map[string]any{"mediaType": "application/vnd.oci.image." + kind, "digest": digestOf(b), "size": len(b)}
	}
	manifest := asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": describe("config.v1+json", config), "layers": []any{describe("layer.v1.tar", layer)}})
	top := describe("manifest.v1+json", manifest)
	top["annotations"] = map[string]string{"org.opencontainers.image.ref.name": name}
	files := []archived{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{"index.json", asJSON(ts, map[string]any{"schemaVersion": 2, "manifests": []any{top}})}}
	for _, b := range [][]byte{config, layer, manifest} {
		files = append(files, archived{"blobs/sha256/" + digestOf(b)[len("sha256:"):], b})
	}
	return files
}

// tarOf makes a layer.
func tarOf(files fs.FS) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.AddFS(files); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func asJSON(ts *testscript.TestScript, v any) []byte {
	b, err := json.Marshal(v)
	ts.Check(err)
	return b
}

func digestOf(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// sameDigest compares the images that two files name, as `image pack` and
// `image import` print them.
func sameDigest(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same-digest FILE FILE")
	}
	a, b := digestIn(ts, args[0]), digestIn(ts, args[1])
	if (a == b) == neg {
		ts.Fatalf("%s: %s; %s: %s", args[0], a, args[1], b)
	}
}

func digestIn(ts *testscript.TestScript, file string) string {
	at := bytes.Index([]byte(ts.ReadFile(file)), []byte("sha256:"))
	if at < 0 {
		ts.Fatalf("%s: no digest in it", filepath.Base(file))
	}
	return ts.ReadFile(file)[at : at+len("sha256:")+64]
}
