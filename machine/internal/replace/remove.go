package replace

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Remove removes a file or a link, if it exists, and syncs its directory.
func Remove(m *access.Machine, path string) error {
	parent, err := unix.Open(m.Path(filepath.Dir(path)), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: its directory cannot be opened: %w", path, err)
	}
	defer func() { _ = unix.Close(parent) }()
	name := filepath.Base(path)
	_ = unix.Unlinkat(parent, temporary(name), 0) // what a kill may have left
	if err := unix.Unlinkat(parent, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s cannot be removed: %w", path, err)
	}
	return unix.Fsync(parent)
}
