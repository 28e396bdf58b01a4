package layout

import (
	"os"
	"path/filepath"
	"testing"
)

// The files of a confidential run are in memory, whatever the run-time directory is on, and are removed with it.
func TestMakeConfidential_IsInMemory(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	t.Cleanup(func() { _ = os.Remove(MemoryRoot(runtime)) })
	if err := MakeConfidential(runtime, "client-1"); err != nil {
		t.Fatal(err)
	}
	dir := RunDir(runtime, "client-1")
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !InMemory(dir) {
		t.Fatalf("%s is not in memory: %v", real, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stdin"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveFiles(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, real} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// A directory that somebody else has prepared is not used.
func TestMakeConfidential_RefusesAForeignDirectory(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	if InMemory(runtime) {
		t.Skip("the directory for tests is in memory")
	}
	if err := os.Mkdir(MemoryRoot(runtime), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(MemoryRoot(runtime)) })
	if err := MakeConfidential(runtime, "client-1"); err == nil {
		t.Error("a directory that others can read is used")
	}
}
