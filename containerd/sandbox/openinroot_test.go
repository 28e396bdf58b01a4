package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A path that goes up is opened although others rename files all the time.
func TestOpenInRoot_WhileOthersRename(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "root", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "root", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := unix.Open(filepath.Join(dir, "root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(root)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		from, to := filepath.Join(dir, "x"), filepath.Join(dir, "y")
		_ = os.Mkdir(from, 0o755)
		for {
			select {
			case <-stop:
				return
			default:
				if err := os.Rename(from, to); err != nil {
					t.Error(err)
					return
				}
				from, to = to, from
			}
		}
	}()
	target := "/" + strings.Repeat("a/../", 100) + "file"
	for range 300 {
		fd, err := openInRoot(root, target)
		if err != nil {
			t.Errorf("it was not opened: %v", err)
			break
		}
		unix.Close(fd)
	}
	close(stop)
	<-done
}
