package replace

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Properties are the owner and the mode of a directory; nil = as they are, and of a new one
// those of this process and 0755.
type Properties struct {
	Mode     *uint32
	UID, GID *int
}

// newDirectoryMode is the mode of a directory that is made without one in the config.
const newDirectoryMode = 0o755

// MakeDirectory makes a directory beside its place, gives it owner and mode, and moves it
// there: it is never visible with others. It returns an error if something is at the path.
func MakeDirectory(m *access.Machine, path string, p Properties) error {
	parent, err := openParent(m, path)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(parent) }()
	name := filepath.Base(path)
	beside := temporary(name)
	if err := unix.Unlinkat(parent, beside, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%s: a directory of an earlier run cannot be removed: %w", path, err)
	}
	if p.Mode == nil {
		mode := uint32(newDirectoryMode)
		p.Mode = &mode
	}
	err = unix.Mkdirat(parent, beside, 0o700)
	if err == nil {
		err = p.setAt(parent, beside)
	}
	if err == nil {
		err = unix.Renameat2(parent, beside, parent, name, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		_ = unix.Unlinkat(parent, beside, unix.AT_REMOVEDIR)
		return fmt.Errorf("%s cannot be made: %w", path, err)
	}
	return unix.Fsync(parent)
}

// setAt sets the properties of a directory in another one, which must be no link.
func (p Properties) setAt(parent int, name string) error {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(p.set(fd), unix.Close(fd))
}

// ChangeDirectory sets the owner and the mode of a directory, or of the one to which links lead.
func ChangeDirectory(m *access.Machine, path string, p Properties) error {
	fd, err := openDirectory(m, path)
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", path, err)
	}
	if err := errors.Join(p.set(fd), unix.Close(fd)); err != nil {
		return fmt.Errorf("%s cannot be changed: %w", path, err)
	}
	return nil
}

func (p Properties) set(fd int) error {
	var was unix.Stat_t
	if err := unix.Fstat(fd, &was); err != nil {
		return err
	}
	uid, gid, mode := -1, -1, was.Mode&0o7777
	if p.UID != nil {
		uid = *p.UID
	}
	if p.GID != nil {
		gid = *p.GID
	}
	if p.Mode != nil {
		mode = *p.Mode
	}
	if err := unix.Fchown(fd, uid, gid); err != nil {
		return fmt.Errorf("its owner cannot be set: %w", err)
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return fmt.Errorf("its mode cannot be set: %w", err)
	}
	return unix.Fsync(fd)
}
