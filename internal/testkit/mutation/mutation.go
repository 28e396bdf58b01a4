package mutation

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tests are those of a package that are to see a fault.
type Tests struct {
	Package string   // its directory, from the root of the module
	Run     string   // which of them, as -test.run takes it
	Flags   []string // more for the test binary
	Env     []string // beside the environment, as NAME=VALUE
	Sign    string   // what stands in a line of the output when one has seen it
}

// See runs the tests with a fault, which they must see.
func (x Tests) See(t *testing.T, f Fault) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.run(root, compile(t, root, x.Package, f))
	if err == nil {
		t.Fatalf("%s in %s did not see it", x.Run, x.Package)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, x.Sign) {
			t.Logf("seen: %.300s", strings.TrimSpace(line))
			return
		}
	}
	t.Errorf("%s in %s failed otherwise: %.4000s", x.Run, x.Package, out)
}

// Pass runs the tests without a fault: tests that fail by themselves see nothing.
func (x Tests) Pass(t *testing.T) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := x.run(root, built(t, root, x.Package)); err != nil {
		t.Fatalf("%s in %s fails without a fault: %v\n%.8000s", x.Run, x.Package, err, out)
	}
}

func (x Tests) run(root, binary string) ([]byte, error) {
	test := exec.Command(binary, append([]string{"-test.run", x.Run}, x.Flags...)...)
	test.Dir = filepath.Join(root, x.Package)
	test.Env = append(os.Environ(), x.Env...)
	return test.CombinedOutput()
}

// moduleRoot returns the directory of go.mod at or above the current one.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// compile returns the path of the test binary of a package with the fault in it.
// root is the directory of the module, and pkg that of the package from there.
func compile(t testing.TB, root, pkg string, f Fault) string {
	t.Helper()
	dir := t.TempDir()
	path, source, err := NewSources(root).Changed(f)
	if err != nil {
		t.Fatalf("the mutant must be brought up to date: %v", err)
	}
	original := filepath.Join(root, filepath.FromSlash(path))
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err == nil {
		err = os.WriteFile(overlay, content, 0o600)
	}
	if err == nil {
		err = os.WriteFile(changed, source, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return built(t, root, pkg, "-overlay", overlay)
}

// built returns the path of the test binary of a package.
func built(t testing.TB, root, pkg string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "mutant.test")
	args := append([]string{"test", "-vet=off", "-c", "-o", binary}, flags...)
	build := exec.Command("go", append(args, "./"+filepath.ToSlash(pkg))...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the test binary of %s cannot be built: %v: %s", pkg, err, out)
	}
	return binary
}
