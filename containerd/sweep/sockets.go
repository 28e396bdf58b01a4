package sweep

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deployster/containerd/layout"
)

// socketAge is how old a socket is at least that is taken for a left one: whoever makes
// one listens there a moment later.
const socketAge = time.Second

// RemoveSockets removes the sockets of shims that do not live any more. A shim removes
// its own, but not when it is killed. Where containerd is another's, so are its sockets.
// It reads a line for each socket of the machine.
func (w Sweeper) RemoveSockets() error {
	if !w.Embedded {
		return nil
	}
	dir := layout.Config{RuntimeDir: w.RuntimeDir}.Shims()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	bound, err := os.ReadFile("/proc/net/unix") // a line for each, with its path at the end
	errs := []error{err}
	for _, e := range list {
		info, ierr := e.Info()
		if err != nil || ierr != nil || time.Since(info.ModTime()) < socketAge || bytes.Contains(bound, []byte("/"+e.Name()+"\n")) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
