package replace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Link puts a link to target at a path, in place of a link or a file. At no time is the path
// empty. The caller holds its lock.
func Link(m *access.Machine, path, target string) error {
	directory, name := filepath.Dir(m.Path(path)), filepath.Base(path)
	beside := filepath.Join(directory, temporary(name))
	if err := os.Remove(beside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s of an earlier run cannot be removed: %w", beside, err)
	}
	if err := os.Symlink(target, beside); err != nil {
		return fmt.Errorf("%s cannot be made: %w", path, err)
	}
	if err := os.Rename(beside, m.Path(path)); err != nil {
		return errors.Join(fmt.Errorf("%s cannot be made: %w", path, err), os.Remove(beside))
	}
	parent, err := unix.Open(directory, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fsync(parent), unix.Close(parent))
}
