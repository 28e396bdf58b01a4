package replace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// Change is the new file at a path. What it leaves out is as in the old file.
type Change struct {
	Content  io.Reader // nil = the content of the old file, or none
	Mode     *uint32   // with the bits for setuid, setgid and sticky; nil and no old file = 0644, nil and another owner = Unprivileged
	UID, GID *int      // nil and no old file = those of this process
	InPlace  bool      // write into the old file: not atomic
	Mounted  bool      // write into the old file where it is a mount of its own, which cannot be replaced
	Backup   bool      // keep the old file beside the new one
	Validate func(ctx context.Context, path string) error
}

const (
	newMode      = 0o644
	temporaryEnd = ".deployster-new"
	backupEnd    = ".deployster-backup"
)

// Temporary reports whether a name is that of a file which this package is writing, or
// was when its process was killed.
func Temporary(name string) bool { return filepath.Ext(name) == temporaryEnd }

// temporary returns the name of the file beside name: always the same, so that what a kill
// has left is removed by the next write.
func temporary(name string) string { return "." + name + temporaryEnd }

// File makes the change at a path, which is not a link, or one that is to be replaced. The
// caller holds its lock.
func File(ctx context.Context, m *access.Machine, path string, c Change) (err error) {
	parent, err := openParent(m, path)
	if err != nil {
		return err
	}
	w := &writer{Change: c, m: m, path: path, name: filepath.Base(path), parent: parent}
	defer func() { _ = unix.Close(parent) }()
	if err := w.openOld(); err != nil {
		return err
	}
	if w.old != nil {
		defer func() { _ = w.old.Close() }()
	}
	return w.write(ctx)
}

// writer replaces one file.
type writer struct {
	Change
	m      *access.Machine
	path   string
	name   string
	parent int      // the directory: no path is resolved twice
	old    *os.File // nil = there is none
	had    unix.Stat_t
}

// openOld opens the file at the path, and refuses what is not a file. A link counts as none: it
// is replaced.
func (w *writer) openOld() error {
	err := unix.Fstatat(w.parent, w.name, &w.had, unix.AT_SYMLINK_NOFOLLOW) // opening a device may act on it
	switch kind := w.had.Mode & unix.S_IFMT; {
	case errors.Is(err, unix.ENOENT), err == nil && kind == unix.S_IFLNK:
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", w.path, err)
	case kind != unix.S_IFREG:
		return fmt.Errorf("%s is not a regular file, and is not replaced", w.path)
	}
	fd, err := unix.Openat(w.parent, w.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", w.path, err)
	}
	w.old = os.NewFile(uintptr(fd), w.path)
	return unix.Fstat(fd, &w.had)
}

func (w *writer) write(ctx context.Context) (err error) {
	if w.old != nil && w.Content == nil && w.Validate == nil {
		return w.properties(int(w.old.Fd()), false) // chmod and chown are atomic themselves
	}
	beside := temporary(w.name)
	if err := unix.Unlinkat(w.parent, beside, 0); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%s of an earlier run cannot be removed: %w", w.besidePath(), err)
	}
	fd, err := unix.Openat(w.parent, beside, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("%s: a file in its directory cannot be made: %w", w.path, err)
	}
	file := os.NewFile(uintptr(fd), w.besidePath())
	renamed := false
	defer func() {
		_ = file.Close()
		if !renamed {
			_ = unix.Unlinkat(w.parent, beside, 0)
		}
	}()
	if err := w.fill(file); err != nil {
		return fmt.Errorf("%s cannot be written: %w", w.path, err)
	}
	if w.Validate != nil {
		if err := w.Validate(ctx, w.besidePath()); err != nil {
			return err
		}
	}
	if w.Backup && w.old != nil {
		if err := w.backup(); err != nil {
			return fmt.Errorf("%s: the backup cannot be made: %w", w.path, err)
		}
	}
	if w.InPlace && w.old != nil {
		return w.into(file)
	}
	switch err := unix.Renameat(w.parent, beside, w.parent, w.name); {
	case errors.Is(err, unix.EBUSY) && w.Mounted && w.old != nil:
		return w.into(file)
	case err != nil:
		return w.explained(err)
	}
	renamed = true
	return unix.Fsync(w.parent)
}

func (w *writer) besidePath() string { return filepath.Join(filepath.Dir(w.path), temporary(w.name)) }

func (w *writer) explained(err error) error {
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is a mount of its own, and a mount cannot be replaced (%w): unmount it, or, of a file, set in_place = true "+
			"to write into it", w.path, err)
	}
	return fmt.Errorf("%s cannot be replaced: %w", w.path, err)
}

// fill gives the new file its content, and all properties before it has its name.
func (w *writer) fill(file *os.File) error {
	content := w.Content
	if content == nil && w.old != nil {
		content = w.old
	}
	if content != nil {
		if _, err := io.Copy(file, content); err != nil {
			return err
		}
	}
	if err := w.properties(int(file.Fd()), true); err != nil {
		return err
	}
	return file.Sync()
}

// properties sets owner, mode and attributes of an open file. Of a new file it sets all: a
// change of the owner takes setuid and capabilities away, so these come last.
func (w *writer) properties(fd int, isNew bool) error {
	uid, gid := -1, -1
	if isNew && w.old != nil {
		uid, gid = int(w.had.Uid), int(w.had.Gid)
	}
	if w.UID != nil {
		uid = *w.UID
	}
	if w.GID != nil {
		gid = *w.GID
	}
	if uid >= 0 || gid >= 0 {
		if err := unix.Fchown(fd, uid, gid); err != nil {
			return fmt.Errorf("its owner cannot be set: %w", err)
		}
	}
	given := w.old != nil && (uid >= 0 && uint32(uid) != w.had.Uid || gid >= 0 && uint32(gid) != w.had.Gid)
	if isNew && w.old != nil {
		if err := copyAttributes(int(w.old.Fd()), fd, given); err != nil {
			return err
		}
	}
	switch {
	case w.Mode != nil:
		return unix.Fchmod(fd, *w.Mode)
	case given:
		return unix.Fchmod(fd, Unprivileged(w.had.Mode&0o7777))
	case w.old != nil:
		return unix.Fchmod(fd, w.had.Mode&0o7777) // of an old file too: chown removes setuid
	}
	return unix.Fchmod(fd, newMode)
}

// Unprivileged returns the mode of a file that gets another owner or group: as by chown, what runs as its owner or its group
// does so no more, since the old owner has chosen what it does.
func Unprivileged(mode uint32) uint32 {
	mode &^= unix.S_ISUID
	if mode&unix.S_IXGRP != 0 {
		mode &^= unix.S_ISGID
	}
	return mode
}

// copyAttributes copies access control lists, labels and other extended attributes; to a file of another owner no capabilities.
func copyAttributes(from, to int, given bool) error {
	names, err := listAttributes(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !kept(name) || given && name == "security.capability" {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(from, name, value)
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err == nil {
			err = unix.Fsetxattr(to, name, value[:n], 0)
		}
		if err != nil {
			return fmt.Errorf("its extended attribute %s cannot be kept: %w", name, err)
		}
	}
	return nil
}

// kept reports whether an attribute belongs to the file at this path, not to its content
// or to the file system.
func kept(name string) bool {
	return name != "security.ima" && name != "security.evm" && !strings.HasPrefix(name, "trusted.overlay.")
}

func listAttributes(fd int) (names []string, err error) {
	buffer := make([]byte, 64<<10)
	n, err := unix.Flistxattr(fd, buffer)
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its extended attributes cannot be listed: %w", err)
	}
	for start, i := 0, 0; i < n; i++ {
		if buffer[i] == 0 {
			names, start = append(names, string(buffer[start:i])), i+1
		}
	}
	return names, nil
}

// backup keeps the old file: as a second name of it, or as a copy if it will be written into.
func (w *writer) backup() error {
	name := w.name + backupEnd
	if err := unix.Unlinkat(w.parent, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	if !w.InPlace {
		return unix.Linkat(w.parent, w.name, w.parent, name, 0)
	}
	fd, err := unix.Openat(w.parent, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }()
	if _, err := w.old.Seek(0, io.SeekStart); err != nil {
		return err
	}
	copied := &writer{old: w.old, had: w.had}
	return copied.fill(file)
}

// reserve takes the room for a content before any of it is written over the old one.
func reserve(fd int, content *os.File) error {
	info, err := content.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	err = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, info.Size())
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// into writes a file that is complete and valid into the old one.
func (w *writer) into(file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	fd, err := unix.Openat(w.parent, w.name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s cannot be opened for writing: %w", w.path, err)
	}
	to := os.NewFile(uintptr(fd), w.path)
	defer func() { _ = to.Close() }()
	if err := reserve(fd, file); err != nil {
		return fmt.Errorf("%s has no room for the new content: %w", w.path, err)
	}
	n, err := io.Copy(to, file)
	if err == nil {
		err = to.Truncate(n)
	}
	if err == nil {
		err = w.properties(fd, false)
	}
	if err == nil {
		err = to.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", w.path, err)
	}
	return nil
}
