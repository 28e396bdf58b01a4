package sandbox

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/artifact/tree"
)

func TestOpenNoLinks_RefusesSymbolicLinks(t *testing.T) {
	t.Parallel()
	at := mountable(t)
	for _, name := range []string{"link", "dirlink/in", "dirlink/sub/deep"} {
		if f, err := tree.OpenNoLinks(filepath.Join(at, name)); !errors.Is(err, unix.ELOOP) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f, err := tree.OpenNoLinks(filepath.Join(at, "dir/in"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, unix.EBADF) {
		t.Errorf("it can be read: %v", err)
	}
}
