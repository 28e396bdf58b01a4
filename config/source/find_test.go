package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory that is named and has no manifest is an error, also where others have some.
func TestFind_NamedDirectoryWithoutManifests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("resource \"a\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := Find(dir, []string{"main.hcl", "empty"}, nil)
	if len(diags) != 1 || diags[0].Summary != NoManifest || !strings.HasPrefix(diags[0].Detail, "There is no manifest in empty: ") {
		t.Errorf("%v", diags)
	}
	if _, diags := Find(dir, []string{"main.hcl", "."}, nil); len(diags) > 0 {
		t.Errorf("its only manifest was named before: %v", diags)
	}
}
