package layout

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"deployster/internal/base/durable"
)

// Exists reports whether a file exists.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Peer returns the process at the other end of a connection, and its user and group.
func Peer(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return cred, errors.Join(err, credErr)
}

// InstallProgram copies a program to a path, for all users to run, unless the copy exists
// already. The copy has the modification time of the original, by which it is recognised.
func InstallProgram(path, program string) error {
	have, err := os.Stat(program)
	if err != nil {
		return err
	}
	if there, err := os.Stat(path); err == nil && there.Size() == have.Size() && there.ModTime().Equal(have.ModTime()) {
		return nil
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return errors.Join(durable.WriteUnsynced(path, content, 0o755), os.Chtimes(path, have.ModTime(), have.ModTime()))
}
