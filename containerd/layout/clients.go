package layout

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// NewID returns a random name that is unique.
func NewID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented to never fail
	return hex.EncodeToString(b[:])
}

// A client owns containers. It is alive as long as it holds the lock on its file,
// clients/<id> in the runtime directory.

func ClientsDir(runtimeDir string) string { return filepath.Join(runtimeDir, "clients") }

// ClientLock shows that a client is alive, until it is released.
type ClientLock struct {
	File *os.File
	Path string
}

// Valid reports whether other processes can still see that the client is alive.
func (p *ClientLock) Valid() bool {
	have, err := p.File.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(p.Path)
	return err == nil && os.SameFile(have, there)
}

// Release shows that a client has ended, and has left nothing behind.
func (p *ClientLock) Release() error {
	return errors.Join(os.Remove(p.Path), p.File.Close())
}

// NewClientLock creates the file of a new client. The file gets its name only when it is
// locked, so that no process ever sees it unlocked.
func NewClientLock(ctx context.Context, runtimeDir, id string) (*ClientLock, error) {
	dir := ClientsDir(runtimeDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	hidden := filepath.Join(dir, "."+id)
	f, err := OpenLock(hidden, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	p := &ClientLock{File: f, Path: filepath.Join(dir, id)}
	if err = WaitLock(ctx, f); err == nil {
		err = os.Rename(hidden, p.Path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(hidden))
	}
	return p, nil
}

// Clients lists the clients of a runtime directory, alive and dead.
func Clients(runtimeDir string) []string {
	entries, err := os.ReadDir(ClientsDir(runtimeDir))
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			// Left by a process that was killed between creating and renaming it.
			if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > time.Hour {
				_ = os.Remove(filepath.Join(ClientsDir(runtimeDir), e.Name()))
			}
			continue
		}
		ids = append(ids, e.Name())
	}
	return ids
}

// IsAlive reports whether a client still holds its lock. In doubt it returns true.
func IsAlive(runtimeDir, id string) bool {
	f, err := OpenLock(filepath.Join(ClientsDir(runtimeDir), id), 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	got, err := TryLock(f)
	return err != nil || !got
}

// ClientOf returns the client of a container: the container's id begins with the client's.
func ClientOf(container string) string {
	return container[:max(strings.LastIndexByte(container, '-'), 0)]
}

// RunDir returns the directory of the files of a container's program.
func RunDir(runtimeDir, container string) string {
	return filepath.Join(runtimeDir, "io", ClientOf(container), container)
}

// OpenLock opens or creates a lock file. Go opens with O_CLOEXEC, so that no child
// process keeps a lock alive.
func OpenLock(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|flag, 0o600)
}

// TryLock takes the lock of an open file, or reports at once that another process has it.
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
	return Poll(ctx, 5*time.Millisecond, func() (bool, error) { return TryLock(f) })
}

// GateName is the name of the lock file that serves as the gate of a runtime directory.
const GateName = "gate"

// LockGate takes the gate of a runtime directory: whoever starts a server, or decides to
// end it, must hold it. The directory may disappear with a server that ends, so the lock
// counts only while the file still exists.
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

// InPlace reports whether an open file is still the one at its path.
func InPlace(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(have, there)
}

// Poll calls done at intervals until it returns true or an error, or the context is done.
func Poll(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}
