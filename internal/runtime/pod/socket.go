package pod

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The package net would make the program half as large again: it has all of the network.

// listener is a socket that waits for connections.
type listener struct{ fd int }

// listen opens the socket at a path, which only this process's user may use.
func listen(path string) (listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return listener{}, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return listener{}, err
	}
	before := unix.Umask(0o177)
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Clean(path)})
	unix.Umask(before)
	if err == nil {
		err = unix.Listen(fd, 16)
	}
	if err != nil {
		return listener{}, errors.Join(fmt.Errorf("cannot listen at %s: %w", path, err), unix.Close(fd))
	}
	return listener{fd}, nil
}

// accept waits for a connection.
func (l listener) accept() (*os.File, error) {
	for {
		fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), "connection"), nil
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED):
			return nil, err
		}
	}
}

// dial connects to the socket at a path.
func dial(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), path), nil
}

// endOfInput sends no more over a connection.
func endOfInput(conn *os.File) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) }) // the other end may be gone
	}
}

// credentials returns who is at the other end of a connection.
func credentials(conn *os.File) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return peer, errors.Join(failed, err)
}

// checkPeer returns an error unless the process at the other end is of this user, and was started from
// outside of the container: not by this process or a program that it has started.
func checkPeer(conn *os.File) error {
	peer, err := credentials(conn)
	if err != nil {
		return err
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("it is of the user %d", peer.Uid)
	}
	for pid := int(peer.Pid); pid > 0; {
		if pid == os.Getpid() {
			return errors.New("it is of a program in this container")
		}
		if pid, err = parent(pid); err != nil {
			return err
		}
	}
	return nil
}

// parent returns the parent of a process; 0 = it is outside of this container.
func parent(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0, fmt.Errorf("the process %d has no parent", pid)
	}
	return strconv.Atoi(fields[1])
}
