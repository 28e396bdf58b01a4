package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Log is a file that only grows. Writers put their bytes down in order with
// Write and then wait with Sync until the disk has them; callers that wait at
// the same time share one write and one fsync. After any failure the log is
// broken for good: each later call gives the first error, because what the disk
// holds from there on is not known. It is safe for concurrent use.
type Log struct {
	o ops
	f *os.File

	mu      sync.Mutex
	pending []byte // not given to the kernel yet: what came since the last fsync began
	spare   []byte // the other buffer, empty
	written int64  // bytes so far, those that are pending too
	room    int64  // up to where the disk has promised room
	durable int64  // bytes that the disk has confirmed
	err     error

	flying *batch // what is being synced; nil = nothing
	next   *batch // who comes meanwhile
}

// batch is who shares an fsync.
type batch struct {
	begun  bool          // who comes now comes too late
	covers int64         // up to where, once it has begun
	led    bool          // somebody waits for his turn to begin it
	over   chan struct{} // closed when it has ended, well or not
}

func newBatch() *batch { return &batch{over: make(chan struct{})} }

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
	return &Log{o: o, f: f, next: newBatch()}, nil
}

// Write appends b and returns where it ends; it is durable only after a Sync
// to there, and until then perhaps in nobody's hands but ours. The order of the
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
	if l.o.allocate(l.f, l.durable, generous-l.durable) == nil {
		l.room = generous
		return nil
	}
	if err := l.o.allocate(l.f, l.durable, want-l.durable); err != nil {
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
	l.flush()
	if l.room > l.written && l.err == nil {
		l.room = l.written
		_ = l.f.Truncate(l.written)
	}
}

// flush gives the kernel what is pending, when nobody else does.
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
		case l.next.led: // he begins it, for all who have come by then
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
	<-b.over
}

// syncOnce writes what is pending and runs one fsync, with the lock released, so
// that others can come meanwhile.
func (l *Log) syncOnce() {
	b := l.next
	l.flying, l.next = b, newBatch()
	l.mu.Unlock()
	runtime.Gosched() // whoever is about to write comes along
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
	close(b.over)
}

// fail is for good. Whoever waits for an fsync that will never begin goes.
func (l *Log) fail(err error) {
	if l.err == nil {
		l.err = err
		close(l.next.over)
	}
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
	l.flush()
	l.fail(os.ErrClosed)
	return l.f.Close()
}
