package plugin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// keptLines is how many of the last lines of a provider's log are kept.
const keptLines = 100

// pipeSize is the capacity of a pipe, in bytes.
const pipeSize = 64 << 10

// tail reads a provider's log from a pipe, and has its last lines.
//
// A provider writes its log before it answers a call, but the answer and the log come in
// different ways: when the answer is here, the log may still be in the pipe. So whoever
// needs the log up to now reads what is in the pipe first.
type tail struct {
	pipe *os.File
	raw  syscall.RawConn // of the pipe

	mu    sync.Mutex // held from reading the pipe until the lines are added
	lines [][]byte
	part  []byte
	to    io.Writer // gets the lines too; nil = none
}

// newTail returns a tail, and the other end of its pipe, which is for the provider.
func newTail() (t *tail, stderr *os.File, err error) {
	t = &tail{}
	if t.pipe, stderr, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if t.raw, err = t.pipe.SyscallConn(); err != nil {
		_, _ = t.pipe.Close(), stderr.Close() // nothing was written
		return nil, nil, err
	}
	return t, stderr, nil
}

// read reads the log until all processes that write it have ended.
func (t *tail) read() {
	for open := true; open; {
		err := t.raw.Read(func(fd uintptr) (done bool) {
			t.mu.Lock()
			defer t.mu.Unlock()
			n, err := t.readOnce(int(fd))
			open = err == nil && n > 0
			return err != syscall.EAGAIN
		})
		open = open && err == nil
	}
	_ = t.pipe.Close() // nothing more comes
}

// catchUp reads what is in the pipe. The caller holds the lock.
func (t *tail) catchUp() {
	_ = t.raw.Control(func(fd uintptr) { // an error reports that everything was read
		// What was written before is within the capacity of the pipe: a provider that
		// continues to write does not keep this from its end.
		for sum := 0; sum < pipeSize; {
			n, err := t.readOnce(int(fd))
			if err != nil || n <= 0 {
				return
			}
			sum += n
		}
	})
}

// readOnce reads once from the pipe, which does not wait. The caller holds the lock.
func (t *tail) readOnce(fd int) (n int, err error) {
	var b [4096]byte
	for {
		if n, err = syscall.Read(fd, b[:]); err != syscall.EINTR {
			break
		}
	}
	if n > 0 {
		t.add(b[:n])
	}
	return n, err
}

// add adds a piece of the log. The caller holds the lock.
func (t *tail) add(b []byte) {
	t.part = append(t.part, b...)
	for {
		line, rest, whole := bytes.Cut(t.part, []byte("\n"))
		if !whole {
			return
		}
		if t.to != nil {
			_, _ = fmt.Fprintf(t.to, "%s\n", line) // a failing writer must not stop the provider
		}
		if t.lines = append(t.lines, bytes.Clone(line)); len(t.lines) > keptLines {
			t.lines = t.lines[1:]
		}
		t.part = bytes.Clone(rest)
	}
}

// String returns the last lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	return string(bytes.Join(append(t.lines, t.part), []byte("\n")))
}

// Follow copies the lines that are written from now on to a writer, until end is called.
// It copies nothing if another Follow is active: lines cannot be attributed to calls.
func (p *Process) Follow(to io.Writer) (end func()) { return p.log.follow(to) }

func (t *tail) follow(to io.Writer) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.to != nil {
		return func() {}
	}
	t.catchUp()
	t.to = to
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.catchUp()
		t.to = nil
	}
}
