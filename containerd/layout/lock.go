package layout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// OpenLock opens or makes a lock file. Go opens with O_CLOEXEC, so that no
// child keeps a lock alive.
func OpenLock(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|flag, 0o600)
}

// TryLock takes the lock of an open file, or says at once that another has it.
func TryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// WaitLock takes the lock of an open file as soon as it is free.
func WaitLock(ctx context.Context, f *os.File) error {
	for {
		ok, err := TryLock(f)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// GateName is the gate of a runtime directory.
const GateName = "gate"

// LockGate takes the gate of a runtime directory: whoever starts a server, or
// decides to end it, is alone with it. The directory may vanish with a server
// that ends, so the lock counts only while the file is still there.
func LockGate(ctx context.Context, dir string) (*os.File, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := OpenLock(filepath.Join(dir, GateName), os.O_CREATE)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := WaitLock(ctx, f); err != nil {
			f.Close()
			return nil, err
		}
		if InPlace(f) {
			return f, nil
		}
		f.Close()
	}
}

// InPlace reports whether an open file is the one that its path leads to.
func InPlace(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(have, there)
}
