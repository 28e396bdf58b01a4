package accounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// home is the directory with the keys of a user. The user owns it, and could replace any part of
// the path by a link at any time: so it is opened once, and all is done through what was opened.
type home struct {
	machine *access.Machine
	user    account
	parent  *os.File // the home directory
	dir     *os.File // .ssh; nil = there is none yet
	stat    unix.Stat_t
}

const (
	keysName = "authorized_keys"
	sshName  = ".ssh"
)

// openHome opens the directory with the keys of a user; nil = there is no such user, or no home.
func openHome(m *access.Machine, name string) (*home, error) {
	d, err := read(m)
	if err != nil {
		return nil, err
	}
	u := d.user(name)
	if u == nil {
		return nil, nil
	}
	parent, err := os.OpenFile(m.Path(u.home), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the home directory of %s: %w", name, err)
	}
	h := &home{machine: m, user: *u, parent: parent}
	if err := h.open(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// open opens .ssh, if it exists, and refuses a link there.
func (h *home) open() error {
	fd, err := unix.Openat(int(h.parent.Fd()), sshName, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return protocol.Errorf(protocol.ConfigError, "/user", "%s/%s is not a directory, or is a link, which is not followed",
			h.user.home, sshName)
	case err != nil:
		return fmt.Errorf("%s/%s: %w", h.user.home, sshName, err)
	}
	h.dir = os.NewFile(uintptr(fd), h.user.home+"/"+sshName)
	return unix.Fstat(fd, &h.stat)
}

// make makes .ssh, and removes what would have sshd ignore it.
func (h *home) make() error {
	if h.dir == nil {
		if err := unix.Mkdirat(int(h.parent.Fd()), sshName, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("%s/%s cannot be made: %w", h.user.home, sshName, err)
		}
		if err := h.open(); err != nil {
			return err
		}
		if h.dir == nil {
			return fmt.Errorf("%s/%s was removed meanwhile", h.user.home, sshName)
		}
	}
	if err := h.dir.Chown(h.user.uid, h.user.gid); err != nil {
		return err
	}
	if h.stat.Mode&0o022 != 0 {
		return h.dir.Chmod(0o700)
	}
	return nil
}

// path returns the path of the file with the keys, through the directory that was opened.
func (h *home) path() string {
	return "/proc/self/fd/" + strconv.Itoa(int(h.dir.Fd())) + "/" + keysName
}

// openKeys opens the file with the keys; nil = there is none.
func (h *home) openKeys() (*os.File, error) {
	if h.dir == nil {
		return nil, nil
	}
	fd, err := unix.Openat(int(h.dir.Fd()), keysName, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil, nil
	case errors.Is(err, unix.ELOOP):
		return nil, protocol.Errorf(protocol.ConfigError, "/user", "%s/%s is a link, which is not followed", h.dir.Name(), keysName)
	case err != nil:
		return nil, fmt.Errorf("%s/%s: %w", h.dir.Name(), keysName, err)
	}
	return os.NewFile(uintptr(fd), h.dir.Name()+"/"+keysName), nil
}

// maxKeys is the largest file that is read: a user could make it any size.
const maxKeys = 4 << 20

// read returns the text of the file with the keys.
func (h *home) read() (string, error) {
	f, err := h.openKeys()
	if f == nil || err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return "", protocol.Errorf(protocol.ConfigError, "/user", "%s is not a regular file", f.Name())
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeys+1))
	if err == nil && len(text) > maxKeys {
		err = fmt.Errorf("%s has more than %d bytes", f.Name(), maxKeys)
	}
	return string(text), err
}

// write replaces the file with the keys.
func (h *home) write(ctx context.Context, text string) error {
	mode := uint32(0o600)
	return replace.File(ctx, h.machine, h.path(), replace.Change{Content: strings.NewReader(text), Mode: &mode, UID: &h.user.uid,
		GID: &h.user.gid})
}

// faults reports what keeps sshd from taking the keys: it ignores files that others could change.
func (h *home) faults() (list []string) {
	check := func(path string, stat unix.Stat_t) {
		switch {
		case int(stat.Uid) != h.user.uid && stat.Uid != 0:
			list = append(list, fmt.Sprintf("%s belongs to the user number %d, so sshd ignores it", path, stat.Uid))
		case stat.Mode&0o022 != 0:
			list = append(list, fmt.Sprintf("%s can be written by others (mode %04o), so sshd ignores it", path, stat.Mode&0o7777))
		}
	}
	check(h.dir.Name(), h.stat)
	if f, err := h.openKeys(); f != nil && err == nil {
		var stat unix.Stat_t
		if unix.Fstat(int(f.Fd()), &stat) == nil {
			check(f.Name(), stat)
		}
		_ = f.Close()
	}
	return list
}

func (h *home) close() {
	_ = h.parent.Close()
	if h.dir != nil {
		_ = h.dir.Close()
	}
}
