package tree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A copy of what must be reached without a link is not made through one.
func TestCopyReal_FollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(made(t, map[string]string{"d/sub/f": "1", "l>d": "", "d/self>sub": ""}))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l/sub", "l/sub/f", "d/self/f"} {
		if err := CopyReal(t.Context(), filepath.Join(dir, name), filepath.Join(t.TempDir(), "c")); !errors.Is(err, unix.ELOOP) {
			t.Errorf("%s: %v", name, err)
		}
	}
	to := t.TempDir()
	if err := errors.Join(CopyReal(t.Context(), filepath.Join(dir, "d"), filepath.Join(to, "d")),
		CopyReal(t.Context(), filepath.Join(dir, "d/sub/f"), filepath.Join(to, "f")),
		CopyReal(t.Context(), filepath.Join(dir, "l"), filepath.Join(to, "l"))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "d/sub/f")); string(b) != "1" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if target, err := os.Readlink(filepath.Join(to, "l")); target != "d" || err != nil { // it is copied itself
		t.Errorf("%q, %v", target, err)
	}
}

// A copy for people is no program that runs as another.
func TestCopyPlain_HasNoSetuid(t *testing.T) {
	t.Parallel()
	dir := made(t, map[string]string{"d/uid": "1", "gid": "2"})
	if err := errors.Join(os.Chmod(filepath.Join(dir, "d/uid"), 0o755|os.ModeSetuid), os.Chmod(filepath.Join(dir, "gid"), 0o755|os.ModeSetgid),
		os.Chmod(filepath.Join(dir, "d"), 0o755|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for _, name := range []string{"d", "gid"} { // a directory, and a file of its own
		if err := CopyPlain(t.Context(), filepath.Join(dir, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"d", "d/uid", "gid"} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode()&^os.ModeDir != 0o755 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
