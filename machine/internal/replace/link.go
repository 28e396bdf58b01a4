package replace

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Link puts a link to target at a path, in place of a link or a file. At no time is the path
// empty. The caller holds its lock.
func Link(m *access.Machine, path, target string) error {
	parent, err := openParent(m, path)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(parent) }()
	name := filepath.Base(path)
	beside := temporary(name)
	if err := unix.Unlinkat(parent, beside, 0); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%s: a link of an earlier run cannot be removed: %w", path, err)
	}
	if err := unix.Symlinkat(target, parent, beside); err != nil {
		return fmt.Errorf("%s cannot be made: %w", path, err)
	}
	if err := unix.Renameat(parent, beside, parent, name); err != nil {
		return errors.Join(fmt.Errorf("%s cannot be made: %w", path, err), unix.Unlinkat(parent, beside, 0))
	}
	return unix.Fsync(parent)
}
