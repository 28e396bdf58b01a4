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

// Pending is a file on this machine with the records of a run: all that were given to
// a log, and those that could not be given to it. It is locked by its process while
// that lives.
type Pending struct {
	path string

	mu      sync.Mutex
	f       *os.File
	written int64
	durable bool // what is written is on the disk: the store does not answer
	err     error
}

const pendingSuffix = ".journal"

// CreatePending makes the file of a run of a lineage.
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

// lockNew locks a file that was just made. Nobody has it for longer than a look takes.
func lockNew(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Left lists the files of a lineage whose processes have ended.
func Left(dir, lineage string) (paths []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil // there was none yet
	}
	for _, e := range all {
		path := filepath.Join(dir, e.Name())
		if lineage != "" && strings.HasPrefix(e.Name(), lineage+"-") && strings.HasSuffix(e.Name(), pendingSuffix) && !locked(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// locked reports whether the process of a lock file lives, as far as is known. Others may
// look at the same time.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // it was only looked at
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

func (p *Pending) reserve(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		return os.ErrClosed
	}
	err := unix.Fallocate(int(p.f.Fd()), unix.FALLOC_FL_KEEP_SIZE, p.written, n)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}

// write adds records. That it fails matters only when the log cannot be written
// either, and is said then.
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

// setDurable says whether all that is written, before and from now on, is to be on the disk.
func (p *Pending) setDurable(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on && !p.durable && p.f != nil {
		p.err = errors.Join(p.err, p.f.Sync())
	}
	p.durable = on
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

// Path is where the file is.
func (p *Pending) Path() string { return p.path }

// Remove removes the file: all that is in it is elsewhere.
func (p *Pending) Remove() error {
	_ = p.close()
	return os.Remove(p.path)
}
