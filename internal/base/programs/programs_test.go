package programs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind_FirstDirectoryWins(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(first, "both"), filepath.Join(second, "both"), filepath.Join(second, "images", "one")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"both": filepath.Join(first, "both"), "images/one": filepath.Join(second, "images/one"), "none": ""} {
		if got := find([]string{first, second}, name); got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}

func TestDirs_OwnThenInstalledThenEnvironment(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, "")
	if got, want := Dirs(), []string{filepath.Dir(self), Installed}; !slices.Equal(got, want) {
		t.Errorf("without %s: %q, want %q", Variable, got, want)
	}
	t.Setenv(Variable, "/opt/more")
	if got, want := Dirs(), []string{filepath.Dir(self), Installed, "/opt/more"}; !slices.Equal(got, want) {
		t.Errorf("with %s: %q, want %q", Variable, got, want)
	}
}
