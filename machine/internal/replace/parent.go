package replace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

// maxLinks is how many links a path may have, as in the kernel.
const maxLinks = 40

// walk opens a directory step by step. Links of root are followed as by the kernel. One of
// another user is followed only to a directory of the same user: else it could lead what
// root writes to any place, at any moment.
type walk struct {
	m     *access.Machine
	links int
}

// openParent opens the directory of a path of the machine.
func openParent(m *access.Machine, path string) (int, error) {
	fd, err := openDirectory(m, filepath.Dir(path))
	if err != nil {
		return -1, fmt.Errorf("%s: its directory cannot be opened: %w", path, err)
	}
	return fd, nil
}

// openDirectory opens a directory of the machine.
func openDirectory(m *access.Machine, path string) (int, error) {
	w := &walk{m: m}
	fd, err := w.open(-1, path)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(fd) }()
	// The walk has descriptors that only name what they lead to.
	return unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// open opens a directory, from another one or from the root.
func (w *walk) open(from int, path string) (fd int, err error) {
	const how = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if from < 0 || strings.HasPrefix(path, "/") {
		fd, err = unix.Open(w.m.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	} else {
		fd, err = unix.Openat(from, ".", how, 0)
	}
	for step := range strings.SplitSeq(path, "/") {
		if err != nil || step == "" || step == "." {
			continue
		}
		next := -1
		if next, err = unix.Openat(fd, step, how, 0); err == nil {
			next, err = w.through(fd, next)
		}
		_ = unix.Close(fd)
		fd = next
	}
	return fd, err
}

// through returns the directory itself, or the one to which the link leads.
func (w *walk) through(from, fd int) (int, error) {
	var link, end unix.Stat_t
	if err := unix.Fstat(fd, &link); err != nil || link.Mode&unix.S_IFMT != unix.S_IFLNK {
		return fd, err
	}
	defer func() { _ = unix.Close(fd) }()
	if w.links++; w.links > maxLinks {
		return -1, unix.ELOOP
	}
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", target)
	if err != nil {
		return -1, err
	}
	next, err := w.open(from, string(target[:n]))
	if err != nil {
		return -1, err
	}
	if err := unix.Fstat(next, &end); err != nil || link.Uid != 0 && link.Uid != end.Uid {
		refused := fmt.Errorf("user %d has put a link to %s on the way, a directory of user %d: it is not followed",
			link.Uid, target[:n], end.Uid)
		return -1, errors.Join(err, refused, unix.Close(next))
	}
	return next, nil
}
