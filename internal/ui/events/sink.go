package events

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// chunk is how many bytes are written at a time: small enough to notice that a reader no
// longer reads.
const chunk = 64 << 10

// ErrNoReader reports that nobody reads the events.
var ErrNoReader = errors.New("it has no reader")

// sink is one reader, served by a goroutine of its own.
type sink struct {
	name   string
	limits Limits
	stop   chan struct{} // closed when the sink no longer waits for a reader
	done   chan struct{} // closed when the goroutine has ended
	wake   chan struct{} // has an element when there may be something to write

	mu      sync.Mutex
	waiting [][]byte
	size    int   // bytes of waiting, and of the lines being written
	taken   int64 // bytes that the reader has taken
	logs    int64
	dropped int // events dropped since the last one that was added
	closed  bool
	err     error
}

func newSink(name string, open Opener, l Limits) *sink {
	k := &sink{name: name, limits: l, stop: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	go k.serve(open)
	return k
}

// put adds an event, or drops it. It returns how many events were dropped before
// this one and not reported: then it has added nothing, and must be called again.
func (k *sink) put(line []byte, e Event) (missed int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil || k.closed {
		return 0
	}
	_, isLog := e.Body.(Log)
	room := k.size+len(line) <= k.limits.Most || essential(e)
	if e.minor() && k.size+len(line) > k.limits.Waiting ||
		isLog && k.limits.Logs > 0 && k.logs+int64(len(line)) > k.limits.Logs {
		room = false
	}
	if !room {
		k.dropped++
		return 0
	}
	if n := k.dropped; n > 0 {
		k.dropped = 0
		return n
	}
	if isLog {
		k.logs += int64(len(line))
	}
	k.push(line)
	return 0
}

// essential reports whether an event is never dropped.
func essential(e Event) bool {
	switch e.Body.(type) {
	case Version, Report, End:
		return true
	}
	return false
}

// add adds a line in any case.
func (k *sink) add(line []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.push(line)
}

func (k *sink) push(line []byte) {
	k.waiting = append(k.waiting, line)
	k.size += len(line)
	select {
	case k.wake <- struct{}{}:
	default: // it is woken already
	}
}

// serve writes lines until the sink is closed and empty.
func (k *sink) serve(open Opener) {
	defer close(k.done)
	w, err := open(k.stop)
	if w == nil || err != nil {
		k.fail(err)
		return
	}
	buffer := make([]byte, 0, chunk)
	for err == nil {
		lines, ended := k.take()
		if len(lines) == 0 && ended {
			break
		}
		if len(lines) == 0 {
			<-k.wake
			continue
		}
		err = k.write(w, lines, buffer)
	}
	k.fail(errors.Join(err, w.Close()))
}

// take returns the waiting lines, and whether they are the last.
func (k *sink) take() ([][]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := k.waiting
	k.waiting = nil
	return lines, k.closed
}

// write writes lines, several at a time and long ones in pieces, through an empty buffer.
func (k *sink) write(w io.Writer, lines [][]byte, buffer []byte) error {
	flush := func() error {
		n, err := w.Write(buffer)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.size -= len(buffer)
		k.taken += int64(n)
		buffer = buffer[:0]
		return err
	}
	for _, line := range lines {
		for len(line) > 0 {
			n := min(len(line), chunk-len(buffer))
			buffer, line = append(buffer, line[:n]...), line[n:]
			if len(buffer) == chunk {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(buffer) == 0 {
		return nil
	}
	return flush()
}

// fail ends the sink and drops the waiting lines.
func (k *sink) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.waiting, k.size = err, nil, 0
	k.closed = true
}

// close waits for the reader; see Stream.Close.
func (k *sink) close(patience time.Duration, hurry <-chan struct{}) error {
	k.mu.Lock()
	k.closed = true
	before := k.taken
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
	defer close(k.stop)
	for {
		timer := time.NewTimer(patience)
		select {
		case <-k.done:
			timer.Stop()
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.err
		case <-hurry:
			timer.Stop()
			return fmt.Errorf("%w any more", ErrNoReader)
		case <-timer.C:
		}
		k.mu.Lock()
		now := k.taken
		k.mu.Unlock()
		if now == before {
			return fmt.Errorf("%w: nothing was read for %s", ErrNoReader, patience)
		}
		before = now
	}
}
