package bundled

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

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
		if err := Write(filepath.Join(dir, root, "it"), "it", map[string]string{"amd64": program, "arm64": program}); err != nil {
			t.Fatal(err)
		}
		at, target, err := Images{dirs: []string{filepath.Join(dir, "none"), filepath.Join(dir, root)}}.find("deployster/it")
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
	if err := Write(filepath.Join(dir, "machine"), "machine", map[string]string{"amd64": program}); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(dir, "machine", "blobs", "sha256", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("%v, %v", blobs, err)
	}
	for _, blob := range blobs {
		if content, err := os.ReadFile(blob); err != nil || bytes.HasPrefix(content, []byte("machine\x00")) {
			t.Errorf("a layer has a file /machine, or %v", err)
		}
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
		_, _, err := Images{dirs: []string{dir}}.find(name)
		if d, ok := err.(*diag.Diagnostic); !ok || d.Summary != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
