package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Copy copies a file or a directory to a path that does not exist. It copies links
// unchanged, and keeps modes and the times of files. The copies get the owner of the
// directory that they are in. Where the file system can, contents are shared until one of
// the two is changed.
func Copy(ctx context.Context, from, to string) error {
	return copyFrom(copier{ctx: ctx}, from, to, os.OpenRoot)
}

// CopyPlain is Copy without setuid and setgid: whoever made the files must not decide as
// which user somebody runs the copies.
func CopyPlain(ctx context.Context, from, to string) error {
	return copyFrom(copier{ctx: ctx, without: fs.ModeSetuid | fs.ModeSetgid}, from, to, os.OpenRoot)
}

// CopyReal is Copy from a path without symbolic links: whoever can write to a directory on
// the way could lead it anywhere.
func CopyReal(ctx context.Context, from, to string) error {
	return copyFrom(copier{ctx: ctx}, from, to, func(dir string) (*os.Root, error) {
		f, err := OpenNoLinks(dir)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	})
}

// copyFrom is Copy with a function that opens directories.
func copyFrom(c copier, from, to string, open func(dir string) (*os.Root, error)) error {
	owner, err := os.Stat(filepath.Dir(to))
	if err != nil {
		return err
	}
	c.uid, c.gid = os.Getuid(), os.Getgid()
	if st, ok := owner.Sys().(*syscall.Stat_t); ok {
		c.uid, c.gid = int(st.Uid), int(st.Gid)
	}
	dir, err := open(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Lstat(filepath.Base(from))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		c.from, c.to = dir, filepath.Dir(to)
		return c.one(filepath.Base(from), filepath.Base(to), info)
	}
	root, err := open(from)
	if err != nil {
		return err
	}
	defer root.Close()
	c.from, c.to = root, to
	return c.all()
}

type copier struct {
	ctx      context.Context
	from     *os.Root
	to       string
	uid, gid int
	without  fs.FileMode // mode bits that are cleared
}

// all copies a directory. The modes of directories are set last: a directory may be
// read-only.
func (c copier) all() error {
	type mode struct {
		path string
		mode fs.FileMode
	}
	var dirs []mode
	err := walk(c.ctx, c.from, MaxEntries, func(e *entry) error {
		if e.mode.IsDir() {
			dirs = append(dirs, mode{filepath.Join(c.to, e.path), e.mode &^ c.without})
			return errors.Join(os.Mkdir(filepath.Join(c.to, e.path), 0o700), os.Lchown(filepath.Join(c.to, e.path), c.uid, c.gid))
		}
		info, err := c.from.Lstat(e.path)
		if err != nil {
			return err
		}
		return c.one(e.path, e.path, info)
	})
	if err != nil {
		return err
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := os.Chmod(dirs[i].path, dirs[i].mode); err != nil {
			return err
		}
	}
	return nil
}

// one copies a file that is not a directory.
func (c copier) one(name, as string, info fs.FileInfo) error {
	to := filepath.Join(c.to, as)
	if kind := special(info.Mode()); kind != "" {
		return &RefusedError{name, "is " + kind}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := c.from.Readlink(name)
		if err != nil {
			return err
		}
		return errors.Join(os.Symlink(target, to), os.Lchown(to, c.uid, c.gid))
	}
	in, err := c.from.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	if now, err := in.Stat(); err != nil || !os.SameFile(now, info) {
		return errors.Join(err, &RefusedError{name, "was replaced while it was copied"})
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = c.content(out, in)
	// The owner comes first: changing it clears setuid.
	err = errors.Join(err, out.Chown(c.uid, c.gid), out.Chmod(info.Mode()&^c.without), out.Close())
	return errors.Join(err, os.Chtimes(to, time.Time{}, info.ModTime()))
}

// content copies or shares the content of a file.
func (c copier) content(out, in *os.File) error {
	if clone(out, in) {
		return nil
	}
	for {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		switch _, err := io.CopyN(out, in, 64<<20); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
