package server

import (
	"errors"
	"io"
	"os"

	"deployster/containerd/daemon"
)

// boundLog makes what is in a log the old one when that is too much: a server lives for
// months beside a watch. Its standard output and that of its shims are appended to the
// file, and go on at its beginning.
func boundLog(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // somebody has removed it
	} else if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() <= daemon.LogLimit {
		return err
	}
	last := make([]byte, daemon.LogLimit)
	if _, err := f.ReadAt(last, info.Size()-daemon.LogLimit); err != nil && err != io.EOF {
		return err
	}
	if err := os.WriteFile(path+".old", last, 0o600); err != nil {
		return err
	}
	return f.Truncate(0)
}
