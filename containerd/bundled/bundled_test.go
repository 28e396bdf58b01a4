package bundled

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	digest "github.com/opencontainers/go-digest"

	"deployster/internal/base/diag"
)

// The same programs give the same image, and another program another one.
func TestWrite_IsReproducible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	digestOf := func(content, root string) string {
		if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(filepath.Join(dir, root, "it"), "it", map[string]string{"amd64": program, "arm64": program}, nil); err != nil {
			t.Fatal(err)
		}
		at, target, err := Files{[]string{filepath.Join(dir, "none"), filepath.Join(dir, root)}}.find("deployster/it")
		if err != nil || at != filepath.Join(dir, root, "it") {
			t.Fatalf("%s, %v", at, err)
		}
		return target.Digest.String()
	}
	first := digestOf("one", "a")
	if again := digestOf("one", "b"); again != first {
		t.Errorf("%s and then %s", first, again)
	}
	if other := digestOf("two", "a"); other == first {
		t.Errorf("%s for another program too", other)
	}
}

// The program of the image deployster/machine is not where its containers have the machine.
func TestWrite_LeavesThePlaceOfTheMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "machine"), "machine", map[string]string{"amd64": program}, nil); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(dir, "machine", "blobs", "sha256", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("%v, %v", blobs, err)
	}
	layers := 0
	for _, blob := range blobs {
		content, err := os.ReadFile(blob)
		if err != nil {
			t.Fatal(err)
		}
		from, err := zstd.NewReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		header, err := tar.NewReader(from).Next()
		if from.Close(); err != nil {
			continue // it is no layer
		}
		if layers++; header.Name == "machine" {
			t.Error("a layer has a file /machine")
		}
	}
	if layers != 1 {
		t.Errorf("it has %d layers", layers)
	}
}

// A layout that is missing or damaged is an error by name.
func TestImages_AreNotInstalled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "torn"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "torn", "index.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"deployster/none": "deployster/none is not installed with this deployster",
		"deployster/torn": "The image deployster/torn is damaged"} {
		_, _, err := Files{[]string{dir}}.find(name)
		if d, ok := err.(*diag.Diagnostic); !ok || d.Summary != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The contents of an image are read from its files, piece by piece, and by the digests that its shipment begins with.
func TestFiles_AreSentToHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, bytes.Repeat([]byte("it"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "it"), "it", map[string]string{"amd64": program}, nil); err != nil {
		t.Fatal(err)
	}
	f := Files{[]string{filepath.Join(dir, "none"), dir}}
	image, err := f.Image("deployster/it")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Shipment(image.Digest)
	if err != nil || s.Name != "deployster/it" || !f.Has(s.Digest) {
		t.Fatalf("%+v, %v", s, err)
	}
	var whole []byte
	for {
		piece, err := f.ReadContent(t.Context(), s.Digest, int64(len(whole)), 100)
		if err != nil || len(piece) > 100 {
			t.Fatal(len(piece), err)
		}
		if len(piece) == 0 {
			break
		}
		whole = append(whole, piece...)
	}
	if digest.FromBytes(whole).String() != s.Digest || int64(len(whole)) != s.Size {
		t.Errorf("%d bytes are not %s", len(whole), s.Digest)
	}
	for _, other := range []string{digest.FromString("other").String(), "sha256:../../index.json", ""} {
		if _, err := f.ReadContent(t.Context(), other, 0, 1); err == nil || f.Has(other) {
			t.Errorf("%q is read", other)
		}
		if _, err := f.Shipment(other); err == nil {
			t.Errorf("%q is sent", other)
		}
	}
}
