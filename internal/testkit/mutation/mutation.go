// Package mutation builds tests of this module with a fault put into its source,
// to show that the tests see it. A Fault is a replacement in one file; the path of
// a test binary comes out. The sources stay as they are: the compiler reads the
// changed file through an overlay.
package mutation

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Fault is a replacement in one file.
type Fault struct {
	Name     string // what is wrong then
	File     string // from the root of the module
	Old, New string // Old is there exactly once
}

// In gives the Fault of putting something else in the place of what a file has.
func In(name, file, was, is string) Fault { return Fault{Name: name, File: file, Old: was, New: is} }

// Build gives the path of the test binary of a package with the fault in it.
// root is the directory of the module, and pkg that of the package from there.
func Build(t testing.TB, root, pkg string, f Fault) string {
	t.Helper()
	dir := t.TempDir()
	original := filepath.Join(root, f.File)
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), f.Old); n != 1 {
		t.Fatalf("%s has %d times %q: the mutant must be brought up to date", f.File, n, f.Old)
	}
	changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.test")
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err == nil {
		err = os.WriteFile(overlay, content, 0o600)
	}
	if err == nil {
		err = os.WriteFile(changed, []byte(strings.Replace(string(source), f.Old, f.New, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", binary, "./"+filepath.ToSlash(pkg))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant cannot be built: %v: %s", err, out)
	}
	return binary
}
