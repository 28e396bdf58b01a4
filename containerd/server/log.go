package server

import (
	"errors"
	"io"
	"os"

	"deployster/containerd/daemon"
)

// boundLog moves the content of a log that is too long to the old log: a server runs for
// months together with a watch. The server and its shims append their output to the file, so
// they continue at its new beginning.
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
