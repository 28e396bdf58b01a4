package ssh

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"deployster/internal/base/rootless"
)

// writeKeys writes a file in memory only, which disappears when this process ends. In the namespace of a user who is not
// root, ssh runs in another one, and may not read the files of this process.
func writeKeys(text string) (*keysFile, error) {
	if rootless.Inside() {
		return keysOnDisk(text)
	}
	fd, err := unix.MemfdCreate("known_hosts", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot keep the key of a host in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "known_hosts")
	if _, err := file.WriteString(text); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &keysFile{fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()), func() { _ = file.Close() }}, nil // it was only read
}
