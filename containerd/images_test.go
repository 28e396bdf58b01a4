package containerd

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	digest "github.com/opencontainers/go-digest"

	"deployster/internal/base/diag"
	"deployster/internal/base/imagefiles"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

func mustRun(t testing.TB, r *Runtime, dgst string, args ...string) runner.Result {
	t.Helper()
	res, err := r.Run(context.Background(), runner.Spec{Name: t.Name(), Kind: runner.Query, Digest: dgst, Args: args, Timeout: time.Minute})
	if err != nil {
		t.Fatalf("%q: %v (stderr %q)", args, err, res.Stderr)
	}
	return res
}

func out(t testing.TB, r *Runtime, dgst string, args ...string) string {
	t.Helper()
	res := mustRun(t, r, dgst, args...)
	if res.ExitCode != 0 {
		t.Fatalf("%q: exit %d, stderr %q", args, res.ExitCode, res.Stderr)
	}
	return strings.TrimSpace(string(res.Stdout))
}

func TestPack_MakesARunnableImage(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	files := map[string]string{"dir/script": "#!/bin/sh\necho $GREETING $0 \"$@\"; pwd\n"}
	o := imagestore.PackOptions{Reference: "test/pack", Entrypoint: []string{"/dir/script"}, Cmd: []string{"x"}, Env: map[string]string{"GREETING": "hello"}, WorkingDir: "/dir"}
	dgst := pack(t, r, o, files)
	if got := out(t, r, dgst); got != "hello /dir/script x\n/dir" {
		t.Errorf("got %q", got)
	}

	t.Run("the same files give the same digest", func(t *testing.T) {
		o.Dir = busyboxDir(t, files)
		later := time.Now().Add(-24 * time.Hour)
		if err := os.Chtimes(filepath.Join(o.Dir, "dir/script"), later, later); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(o.Dir, "dir/script"), 1000, 1000); err != nil {
			t.Fatal(err)
		}
		if again := pack(t, r, o, nil); again != dgst {
			t.Errorf("got %s, then %s", dgst, again)
		}
		if err := os.Chmod(filepath.Join(o.Dir, "dir/script"), 0o700); err != nil {
			t.Fatal(err)
		}
		if again := pack(t, r, o, nil); again == dgst {
			t.Error("another mode gave the same digest")
		}
	})
	t.Run("a tag that moves leaves the image", func(t *testing.T) {
		i, err := r.Images.Resolve(context.Background(), "test/pack")
		if err != nil || i.Digest == dgst {
			t.Fatalf("the tag did not move: %+v, %v", i, err)
		}
		if got := out(t, r, dgst, "still"); !strings.Contains(got, "still") {
			t.Errorf("got %q", got)
		}
		list, err := r.Images.Images(context.Background())
		if err != nil || len(list) != 2 || list[0].Name != "docker.io/test/pack:latest" || list[1].Name != dgst {
			t.Errorf("got %+v, %v", list, err)
		}
		for _, i := range list {
			if i.Size < 1<<20 || time.Since(i.Created) > time.Hour {
				t.Errorf("got %+v", i)
			}
		}
	})
	t.Run("on a base", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "more"), []byte("more\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		child := pack(t, r, imagestore.PackOptions{Reference: "test/on", Dir: dir, Base: dgst, Entrypoint: []string{"/bin/sh", "-c", "cat /more; ls -l /more; echo $GREETING"}}, nil)
		got := out(t, r, child)
		if !strings.HasPrefix(got, "more\n-rw-------    1 0        0 ") || !strings.HasSuffix(got, "hello") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("what cannot be packed", func(t *testing.T) {
		dir := t.TempDir()
		for _, o := range []imagestore.PackOptions{
			{Reference: "test/bad", Dir: filepath.Join(dir, "missing")},
			{Reference: "Not A Name", Dir: t.TempDir()},
			{Reference: "test/bad@" + dgst, Dir: t.TempDir()},
			{Reference: "test/bad", Dir: t.TempDir(), Base: "test/nowhere"},
		} {
			if i, err := r.Images.Pack(context.Background(), o); !isDiagnostic(err) {
				t.Errorf("%+v: got %+v, %v", o, i, err)
			}
		}
		if _, err := r.Images.Resolve(context.Background(), "test/bad"); !errors.Is(err, runner.ErrNoImage) {
			t.Errorf("something was packed: %v", err)
		}
	})
	nothingLeft(t, r)
}

func isDiagnostic(err error) bool {
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.Severity == diag.Error && d.Summary != "" && d.Detail != ""
}

// archive makes a tar of entries in the order given: name, content, ...
func archive(t testing.TB, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: entries[i], Mode: 0o644, Size: int64(len(entries[i+1]))})
		if err == nil {
			_, err = io.WriteString(w, entries[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type object = map[string]any

// layerAndConfig returns a layer with busybox and more files, and a config for
// it.
func layerAndConfig(t testing.TB, files map[string]string, config object) (layer, text string) {
	t.Helper()
	var b bytes.Buffer
	var set imagefiles.Set
	defer set.Close()
	if err := errors.Join(set.AddTree(busyboxDir(t, files), "/"), set.WriteTar(context.Background(), &b)); err != nil {
		t.Fatal(err)
	}
	return b.String(), toJSON(t, object{
		"os": "linux", "architecture": runtime.GOARCH, "config": config,
		"rootfs": object{"type": "layers", "diff_ids": []string{digest.FromString(b.String()).String()}},
	})
}

// dockerArchive is an image as `docker save` writes it.
func dockerArchive(t testing.TB, tag string, files map[string]string, config object) []byte {
	layer, text := layerAndConfig(t, files, config)
	name := digest.FromString(text).Encoded() + ".json"
	return archive(t, name, text, "abc/layer.tar", layer,
		"manifest.json", toJSON(t, []object{{"Config": name, "RepoTags": []string{tag}, "Layers": []string{"abc/layer.tar"}}}))
}

// ociArchive is an image as an OCI layout; name is its ref.name annotation.
func ociArchive(t testing.TB, name string, config object) []byte {
	layer, text := layerAndConfig(t, nil, config)
	blob := func(mediaType, b string) object {
		return object{"mediaType": mediaType, "digest": digest.FromString(b).String(), "size": len(b)}
	}
	manifest := toJSON(t, object{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": blob("application/vnd.oci.image.config.v1+json", text),
		"layers": []object{blob("application/vnd.oci.image.layer.v1.tar", layer)}})
	m := blob("application/vnd.oci.image.manifest.v1+json", manifest)
	m["annotations"] = object{"org.opencontainers.image.ref.name": name}
	path := func(b string) string { return "blobs/sha256/" + digest.FromString(b).Encoded() }
	return archive(t, "oci-layout", `{"imageLayoutVersion":"1.0.0"}`, path(layer), layer, path(text), text, path(manifest), manifest,
		"index.json", toJSON(t, object{"schemaVersion": 2, "manifests": []object{m}}))
}

func TestImport_ReadsArchivesOfDockerAndOCI(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	config := object{"Entrypoint": []string{"/bin/sh", "-c", "echo imported"}}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(dockerArchive(t, "test/gz:1", nil, config)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		tar  []byte
	}{
		{"docker.io/test/docker:1", dockerArchive(t, "test/docker:1", nil, config)},
		{"docker.io/test/gz:1", packed.Bytes()},
		{"docker.io/test/oci:1", ociArchive(t, "docker.io/test/oci:1", config)},
		{"", ociArchive(t, "1.0", config)}, // only a tag: known by its digest
	} {
		list, err := r.Images.Import(context.Background(), bytes.NewReader(c.tar), noneElsewhere(t))
		if err != nil || len(list) != 1 || list[0].Name != c.name && c.name != "" {
			t.Errorf("%s: got %+v, %v", c.name, list, err)
			continue
		}
		if got := out(t, r, list[0].Digest); got != "imported" {
			t.Errorf("%s: got %q", c.name, got)
		}
		if i, err := r.Images.Resolve(context.Background(), list[0].Name); err != nil || i.Digest != list[0].Digest {
			t.Errorf("%s: got %+v, %v", c.name, i, err)
		}
	}
	whole := dockerArchive(t, "test/cut:1", nil, config)
	for name, b := range map[string][]byte{
		"empty":           nil,
		"text":            []byte(strings.Repeat("this is no archive\n", 100)),
		"short":           []byte("x"),
		"broken gzip":     append([]byte{0x1f, 0x8b, 8, 0}, bytes.Repeat([]byte{7}, 1000)...),
		"cut off":         whole[:len(whole)/2],
		"another tar":     archive(t, "README", "hello"),
		"no layer":        archive(t, "c.json", `{}`, "manifest.json", `[{"Config":"c.json","RepoTags":["test/cut:1"],"Layers":["l"]}]`),
		"broken manifest": archive(t, "manifest.json", `[{`),
		"empty layout":    archive(t, "oci-layout", `{"imageLayoutVersion":"1.0.0"}`, "index.json", `{"schemaVersion":2,"manifests":[]}`),
		"foreign platform": archive(t, "c.json", `{"os":"plan9","architecture":"mips","rootfs":{"type":"layers","diff_ids":[]}}`,
			"manifest.json", `[{"Config":"c.json","RepoTags":["test/cut:1"],"Layers":[]}]`),
	} {
		if list, err := r.Images.Import(context.Background(), bytes.NewReader(b), noneElsewhere(t)); !isDiagnostic(err) {
			t.Errorf("%s: got %+v, %v", name, list, err)
		}
	}
	// An import that fails leaves the image that had the name.
	bad := dockerArchive(t, "test/docker:1", nil, object{"User": "nobody-here"})
	if _, err := r.Images.Import(context.Background(), bytes.NewReader(bad), noneElsewhere(t)); !isDiagnostic(err) {
		t.Errorf("got %v", err)
	}
	if i, err := r.Images.Resolve(context.Background(), "test/docker:1"); err != nil || out(t, r, i.Digest) != "imported" {
		t.Errorf("the name is lost: %+v, %v", i, err)
	}
	if _, err := r.Images.Resolve(context.Background(), "test/cut:1"); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("a broken image is here: %v", err)
	}
	nothingLeft(t, r)
}

func TestMissingImage_ErrorSuggestsTheNearestName(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	pack(t, r, imagestore.PackOptions{Reference: "acme/file:1.2"}, nil)
	for ref, near := range map[string]string{
		"acme/file":     "acme/file:1.2",
		"acme/fiel:1.2": "acme/file:1.2",
		"other/thing:9": "",
	} {
		_, err := r.Images.Resolve(context.Background(), ref)
		if !errors.Is(err, runner.ErrNoImage) || !isDiagnostic(err) {
			t.Errorf("%s: got %v", ref, err)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, ref) || !strings.Contains(text, "deployster image import") || strings.Contains(text, "Did you mean") != (near != "") || !strings.Contains(text, near) {
			t.Errorf("%s: got %s", ref, text)
		}
	}
	for _, ref := range []string{"", "UPPER", "a b", "sha256:12", "a@sha256:zz"} {
		if _, err := r.Images.Resolve(context.Background(), ref); !isDiagnostic(err) || errors.Is(err, runner.ErrNoImage) {
			t.Errorf("%q: got %v", ref, err)
		}
	}
	// An image that is taken away while it is known is missed at the next run.
	dgst := pack(t, r, imagestore.PackOptions{Reference: "acme/gone", Entrypoint: []string{"/bin/true"}}, map[string]string{"only": "here"})
	mustRun(t, r, dgst)
	nothingLeft(t, r) // its container keeps the files, until the server has removed it
	ctx := r.conn.Context(context.Background())
	for _, name := range []string{"docker.io/acme/gone:latest", dgst} {
		if err := r.conn.Client.ImageService().Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	collectGarbage(t, r)
	if _, err := r.Run(context.Background(), runner.Spec{Kind: runner.Query, Digest: dgst}); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, r)
}

// noneElsewhere fails where an image is left out that is for another platform.
func noneElsewhere(t *testing.T) func(string, error) {
	return func(name string, why error) { t.Errorf("%s was left out: %v", name, why) }
}
