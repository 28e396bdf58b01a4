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

// socketAge is the minimum age of a socket that is removed: a new shim listens on its
// socket a moment after creating it.
const socketAge = time.Second

// RemoveSockets removes the sockets of shims that are no longer alive. A shim removes its
// own, but not when it is killed. The sockets of a daemon's shims are left alone. It
// reads a line for each socket of the machine.
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
	bound, err := os.ReadFile("/proc/net/unix") // a line for each socket, with its path at the end
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
