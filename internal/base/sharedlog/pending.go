package sharedlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Pending is a file on this machine with all records of a run, whether they reached the
// log or not. The process that writes it holds a lock on it while it lives.
type Pending struct {
	path string

	mu      sync.Mutex
	f       *os.File
	written int64
	durable bool // sync each write to the disk: the store does not answer
	err     error
}

const pendingSuffix = ".journal"

// CreatePending creates the file of a run for a lineage.
func CreatePending(dir, lineage, run string) (*Pending, error) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lineage+"-"+run+pendingSuffix)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockNew(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &Pending{path: path, f: f}, nil
}

// lockNew locks a file that was just created. Others hold its lock only briefly, to test it.
func lockNew(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Left returns the paths of the files of a lineage whose processes have ended.
func Left(dir, lineage string) (paths []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil // the directory does not exist yet
	}
	for _, e := range all {
		path := filepath.Join(dir, e.Name())
		if lineage != "" && strings.HasPrefix(e.Name(), lineage+"-") && strings.HasSuffix(e.Name(), pendingSuffix) && !locked(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// locked reports whether the process of a lock file lives, or may live. Several processes
// may test the same file concurrently.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // only its lock was tested
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

func (p *Pending) reserve(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return os.ErrClosed
	}
	return allocate(p.f, p.written, n)
}

// write adds records. Its error matters only when the log cannot be written either:
// close returns it.
func (p *Pending) write(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil || p.err != nil {
		return
	}
	n, err := p.f.Write(b)
	p.written += int64(n)
	if err == nil && p.durable {
		err = p.f.Sync()
	}
	p.err = err
}

// setDurable sets whether all records, earlier and later ones, must be on the disk.
func (p *Pending) setDurable(durable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if durable && !p.durable && p.f != nil {
		p.err = errors.Join(p.err, p.f.Sync())
	}
	p.durable = durable
}

func (p *Pending) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return nil
	}
	err := p.f.Close()
	p.f = nil
	return errors.Join(p.err, err)
}

// Path returns the path of the file.
func (p *Pending) Path() string { return p.path }

// Remove removes the file. The caller has all of its content elsewhere.
func (p *Pending) Remove() error {
	_ = p.close()
	return os.Remove(p.path)
}
