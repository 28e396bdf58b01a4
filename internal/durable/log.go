package durable

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// Log is a file that only grows. Writers put their bytes down in order with
// Write and then wait with Sync until the disk has them; callers that wait at
// the same time share one fsync. After any failure the log is broken for good:
// each later call gives the first error, because what the disk holds from
// there on is not known. It is safe for concurrent use.
type Log struct {
	o ops
	f *os.File

	mu      sync.Mutex
	done    *sync.Cond // a sync ended, or the log broke
	written int64      // bytes given to the kernel
	room    int64      // up to where the disk has promised room
	durable int64      // bytes that the disk has confirmed
	syncing bool
	syncs   int // fsyncs done, for tests and measurements
	err     error
}

// CreateLog makes a new, empty log. It fails when the file is there already.
// The name is durable when it returns.
func CreateLog(path string, mode os.FileMode) (*Log, error) {
	return createLog(system(), path, mode)
}

func createLog(o ops, path string, mode os.FileMode) (*Log, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	if err := o.syncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	l := &Log{o: o, f: f}
	l.done = sync.NewCond(&l.mu)
	return l, nil
}

// Write appends b and returns where it ends; it is durable only after a Sync
// to there. The order of the calls is the order in the file.
func (l *Log) Write(b []byte) (end int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	if err := writeAll(l.o, l.f, b); err != nil {
		l.fail(err)
		return 0, err
	}
	l.written += int64(len(b))
	return l.written, nil
}

// Reserve returns when the disk has promised room for n more bytes than are
// written. Room is asked for in large pieces, so that most calls cost nothing.
// A refusal does not break the log: what needs no more room can still be written.
func (l *Log) Reserve(n int64) error {
	const piece = 1 << 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	want := l.written + n
	if want <= l.room {
		return nil
	}
	generous := (want/piece + 1) * piece
	if l.o.allocate(l.f, l.written, generous-l.written) == nil {
		l.room = generous
		return nil
	}
	if err := l.o.allocate(l.f, l.written, n); err != nil {
		return err
	}
	l.room = want
	return nil
}

// Release gives reserved room back to the disk. A failure is none of the
// caller's business: the room goes with the file.
func (l *Log) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.room > l.written && l.err == nil {
		l.room = l.written
		_ = l.f.Truncate(l.written)
	}
}

// Sync returns when all bytes up to end are on the disk.
func (l *Log) Sync(end int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && l.durable < end {
		if l.syncing {
			l.done.Wait()
			continue
		}
		l.syncOnce()
	}
	if l.durable >= end {
		return nil
	}
	return l.err
}

// syncOnce runs one fsync for all that is written by now, with the lock
// released, so that others can write meanwhile.
func (l *Log) syncOnce() {
	covers := l.written
	l.syncing = true
	l.mu.Unlock()
	err := l.o.sync(l.f)
	l.mu.Lock()
	l.syncing = false
	l.syncs++
	if err != nil {
		l.fail(err)
		return
	}
	l.durable = covers
	l.done.Broadcast()
}

func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
	}
	l.done.Broadcast()
}

// Durable says how many bytes the disk has confirmed.
func (l *Log) Durable() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Close closes the file. It does not sync: what matters was synced before.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail(os.ErrClosed)
	return l.f.Close()
}
