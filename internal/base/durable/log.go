package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Log is a file that only grows. Writers append bytes in order with Write and then wait
// with Sync until the disk has them; callers that wait at the same time share one write
// and one fsync. After any failure the log is broken for good: each later call returns
// the first error, because the content of the disk after that point is unknown. It is
// safe for concurrent use.
type Log struct {
	o ops
	f *os.File

	mu       sync.Mutex
	pending  []byte // not given to the kernel yet: written since the last fsync began
	spare    []byte // the other buffer, empty
	written  int64  // bytes so far, pending ones included
	reserved int64  // the size for which the disk has reserved room
	durable  int64  // bytes that the disk has confirmed
	err      error

	flying *batch // what is being synced; nil = nothing
	next   *batch // the callers that arrive meanwhile
}

// batch is the callers that share an fsync.
type batch struct {
	begun  bool          // callers that arrive now are too late
	covers int64         // the size that it syncs, once it has begun
	led    bool          // a caller waits to begin it
	ended  chan struct{} // closed when it has ended, successfully or not
}

func newBatch() *batch { return &batch{ended: make(chan struct{})} }

// CreateLog creates an empty log. It fails when the file exists. When it returns, the
// name is durable.
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
	return &Log{o: o, f: f, next: newBatch()}, nil
}

// Write appends b and returns the size after it; b is durable only after a Sync up to
// that size, and until then may be only in the memory of this process. The order of the
// calls is the order in the file.
func (l *Log) Write(b []byte) (end int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	l.pending = append(l.pending, b...)
	l.written += int64(len(b))
	return l.written, nil
}

// Reserve returns when the disk has reserved room for n more bytes than are written. It
// reserves large pieces, so that most calls cost nothing. An error does not break the
// log: writes that need no more room still succeed.
func (l *Log) Reserve(n int64) error {
	const piece = 1 << 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	want := l.written + n
	if want <= l.reserved {
		return nil
	}
	generous := (want/piece + 1) * piece
	if l.o.allocate(l.f, l.durable, generous-l.durable) == nil {
		l.reserved = generous
		return nil
	}
	if err := l.o.allocate(l.f, l.durable, want-l.durable); err != nil {
		return err
	}
	l.reserved = want
	return nil
}

// Release returns reserved room to the disk. It ignores a failure: the room is freed when
// the file is removed.
func (l *Log) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	if l.reserved > l.written && l.err == nil {
		l.reserved = l.written
		_ = l.f.Truncate(l.written)
	}
}

// flush writes what is pending to the kernel, when no fsync is in progress.
func (l *Log) flush() {
	for l.flying != nil {
		l.wait(l.flying)
	}
	if l.err == nil && len(l.pending) > 0 {
		if err := writeAll(l.o, l.f, l.pending); err != nil {
			l.fail(err)
		}
		l.pending = l.pending[:0]
	}
}

// Sync returns when all bytes up to end are on the disk.
func (l *Log) Sync(end int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && l.durable < end {
		switch {
		case l.flying == nil:
			l.syncOnce()
		case !l.flying.begun || end <= l.flying.covers:
			l.wait(l.flying)
		case l.next.led: // that caller begins it, for all who have arrived by then
			l.wait(l.next)
		default:
			next := l.next
			next.led = true
			l.wait(l.flying)
			next.led = false
		}
	}
	if l.durable >= end {
		return nil
	}
	return l.err
}

// wait is called with the lock held, which is released meanwhile.
func (l *Log) wait(b *batch) {
	l.mu.Unlock()
	defer l.mu.Lock()
	<-b.ended
}

// syncOnce writes what is pending and runs one fsync, with the lock released, so that
// other callers can arrive meanwhile.
func (l *Log) syncOnce() {
	b := l.next
	l.flying, l.next = b, newBatch()
	l.mu.Unlock()
	runtime.Gosched() // writers that are about to write are included
	l.mu.Lock()
	b.begun, b.covers = true, l.written
	content := l.pending
	l.pending, l.spare = l.spare, nil
	l.mu.Unlock()
	var err error
	if len(content) > 0 {
		err = writeAll(l.o, l.f, content)
	}
	if err == nil {
		err = l.o.sync(l.f)
	}
	l.mu.Lock()
	l.spare = content[:0]
	l.flying = nil
	if err != nil {
		l.fail(err)
	} else {
		l.durable = b.covers
	}
	close(b.ended)
}

// fail records the first error for good. It wakes the callers that wait for an fsync that will never begin.
func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
		close(l.next.ended)
	}
}

// Durable returns how many bytes the disk has confirmed.
func (l *Log) Durable() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Close closes the file. It does not sync: callers sync what matters before.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	l.fail(os.ErrClosed)
	return l.f.Close()
}
