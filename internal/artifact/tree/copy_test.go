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
