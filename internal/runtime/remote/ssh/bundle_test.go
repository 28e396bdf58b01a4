package ssh

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/base/packed"
)

// When a bundle is made, those that nobody has used for long are removed, and what killed
// commands have left.
func TestMakeBundle_RemovesWhatIsUnused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := func(name string) Programs {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
		return Programs{Host: path, packed.Restorer: path}
	}
	made := func(p Programs, days int) string {
		b, err := MakeBundle(t.Context(), p, filepath.Join(dir, "bundles"))
		if err != nil {
			t.Fatal(err)
		}
		age(t, b.Path, days)
		return b.Path
	}
	unused, used := program("unused"), program("used")
	old, kept := made(unused, 40), made(used, 40)
	made(used, 0) // to use it is enough
	left := []string{filepath.Join(dir, "bundles", ".bundle-1"), filepath.Join(dir, "bundles", ".bundle-2")}
	for i, path := range left {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		age(t, path, 2-2*i)
	}
	latest := made(program("new"), 0)
	for path, want := range map[string]bool{old: false, old + ".sha256": false, kept: true, latest: true, latest + ".sha256": true,
		left[0]: false, left[1]: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", filepath.Base(path), err, want)
		}
	}
	if again := made(unused, 0); again != old {
		t.Errorf("what was removed is not made again, but %s", again)
	}
}

// What a build has compressed is taken as it is: the bundle is the same as that of the program.
func TestMakeBundle_TakesWhatIsCompressed(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(t.TempDir(), "program"+packed.Ending)
	content, err := packed.Pack(self, false)
	if err == nil {
		err = os.WriteFile(small, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, path := range []string{self, small} {
		b, err := MakeBundle(t.Context(), Programs{Host: path, packed.Restorer: self}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, b.SHA256)
	}
	if sums[0] != sums[1] {
		t.Errorf("another bundle: %q", sums)
	}
}

// age says of a file that it was used so many days ago.
func age(t *testing.T, path string, days int) {
	t.Helper()
	if last := time.Now().AddDate(0, 0, -days); days > 0 {
		if err := os.Chtimes(path, last, last); err != nil {
			t.Fatal(err)
		}
	}
}
