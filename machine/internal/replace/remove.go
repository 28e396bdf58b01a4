package replace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Remove removes a file or a link, if it exists, and syncs its directory.
func Remove(m *access.Machine, path string) error {
	return removing(m, path, func(parent int, name string) error {
		_ = unix.Unlinkat(parent, temporary(name), 0) // what a kill may have left
		return unix.Unlinkat(parent, name, 0)
	})
}

// RemoveDirectory removes an empty directory, if it exists.
func RemoveDirectory(m *access.Machine, path string) error {
	return removing(m, path, func(parent int, name string) error { return unix.Unlinkat(parent, name, unix.AT_REMOVEDIR) })
}

// RemoveAll removes a directory with all that it holds, if it exists. It follows no links.
func RemoveAll(m *access.Machine, path string) error {
	return removing(m, path, func(parent int, name string) error {
		root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(parent))
		if err != nil {
			return err
		}
		return errors.Join(root.RemoveAll(name), root.Close())
	})
}

// removing calls remove with the open directory of a path and the name in it.
func removing(m *access.Machine, path string, remove func(parent int, name string) error) error {
	parent, err := openParent(m, path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(parent) }()
	if err := remove(parent, filepath.Base(path)); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s cannot be removed: %w", path, err)
	}
	return unix.Fsync(parent)
}
