package containerd

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

// newID gives a name that nobody else has.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented to never fail
	return hex.EncodeToString(b[:])
}

// openLock opens or makes a lock file. Go opens with O_CLOEXEC, so that no
// child keeps a lock alive.
func openLock(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|flag, 0o600)
}

// tryLock takes the lock of an open file, or says at once that another has it.
func tryLock(f *os.File) (bool, error) {
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

// waitLock takes the lock of an open file as soon as it is free.
func waitLock(ctx context.Context, f *os.File) error {
	for {
		ok, err := tryLock(f)
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

// gateName is the gate of a runtime directory.
const gateName = "gate"

// lockGate takes the gate of a runtime directory: whoever starts a server, or
// decides to end it, is alone with it. The directory may vanish with a server
// that ends, so the lock counts only while the file is still there.
func lockGate(ctx context.Context, dir string) (*os.File, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := openLock(filepath.Join(dir, gateName), os.O_CREATE)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := waitLock(ctx, f); err != nil {
			f.Close()
			return nil, err
		}
		if stillThere(f) {
			return f, nil
		}
		f.Close()
	}
}

// stillThere reports whether an open file is the one that its path leads to.
func stillThere(f *os.File) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(have, there)
}

// A client is someone who owns containers. He is alive as long as he holds the
// lock on his file, clients/<id> in the runtime directory.

func clientsDir(runtimeDir string) string { return filepath.Join(runtimeDir, "clients") }

// presence says that a client is alive, as long as it is not released.
type presence struct {
	file *os.File
	path string
}

// there reports whether the others still see that the client is alive.
func (p *presence) there() bool {
	have, err := p.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(p.path)
	return err == nil && os.SameFile(have, there)
}

// release says that a client is gone, and has left nothing.
func (p *presence) release() error {
	return errors.Join(os.Remove(p.path), p.file.Close())
}

// register makes the file of a new client. It gets its name only when it is
// locked, so that nobody ever sees it without.
func register(ctx context.Context, runtimeDir, id string) (*presence, error) {
	dir := clientsDir(runtimeDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	hidden := filepath.Join(dir, "."+id)
	f, err := openLock(hidden, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	p := &presence{file: f, path: filepath.Join(dir, id)}
	if err = waitLock(ctx, f); err == nil {
		err = os.Rename(hidden, p.path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(hidden))
	}
	return p, nil
}

// clients lists the clients of a runtime directory, alive and dead.
func clients(runtimeDir string) []string {
	entries, err := os.ReadDir(clientsDir(runtimeDir))
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			// Left by someone who died between making and naming it.
			if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > time.Hour {
				_ = os.Remove(filepath.Join(clientsDir(runtimeDir), e.Name()))
			}
			continue
		}
		ids = append(ids, e.Name())
	}
	return ids
}

// alive reports whether a client still holds its lock. When in doubt it does.
func alive(runtimeDir, id string) bool {
	f, err := openLock(filepath.Join(clientsDir(runtimeDir), id), 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	got, err := tryLock(f)
	return err != nil || !got
}
