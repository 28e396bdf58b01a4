package tree

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// OpenNoLinks opens a path of this host without reading the file. No part of the path may
// be a symbolic link: whoever can write to a directory on the way could lead it anywhere.
func OpenNoLinks(name string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		// Before Linux 5.6. Package sandbox compares what is mounted with what was opened,
		// so it also finds an exchange between these two calls.
		if real, err := filepath.EvalSymlinks(name); err != nil || real != name {
			return nil, errors.Join(err, unix.ELOOP)
		}
		fd, err = unix.Open(name, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// clone lets a file share the content of another, where the file system can.
func clone(out, in *os.File) bool { return unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil }
