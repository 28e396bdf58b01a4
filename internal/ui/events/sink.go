package events

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// piece is how much is written at one time, so that it shows when a reader
// takes nothing any more.
const piece = 64 << 10

// ErrNobody says that nobody reads what is written.
var ErrNobody = errors.New("nobody reads it")

// sink is one reader, served by a goroutine of its own.
type sink struct {
	name   string
	limits Limits
	stop   chan struct{} // closed: nobody waits any longer for a reader to come
	over   chan struct{} // closed when the goroutine has ended
	filled chan struct{} // has one element when there may be something to write

	mu      sync.Mutex
	waiting [][]byte
	size    int   // bytes of waiting, and of what is being written
	taken   int64 // bytes that the reader has taken
	logs    int64
	left    int // events that were left out since the last one that was not
	ended   bool
	err     error
}

func newSink(name string, open Opener, l Limits) *sink {
	k := &sink{name: name, limits: l, stop: make(chan struct{}), over: make(chan struct{}), filled: make(chan struct{}, 1)}
	go k.serve(open)
	return k
}

// put adds an event, or leaves it out. It gives the number of events that were
// left out before this one and that nobody has been told of: then it has added
// nothing, and is to be called again.
func (k *sink) put(line []byte, e Event) (untold int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil || k.ended {
		return 0
	}
	_, isLog := e.Body.(Log)
	room := k.size+len(line) <= k.limits.Most || essential(e)
	if e.minor() && k.size+len(line) > k.limits.Waiting ||
		isLog && k.limits.Logs > 0 && k.logs+int64(len(line)) > k.limits.Logs {
		room = false
	}
	if !room {
		k.left++
		return 0
	}
	if n := k.left; n > 0 {
		k.left = 0
		return n
	}
	if isLog {
		k.logs += int64(len(line))
	}
	k.push(line)
	return 0
}

// essential says of an event that no reader is left without it.
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
	case k.filled <- struct{}{}:
	default: // it is awake
	}
}

// serve writes until there is nothing more to come.
func (k *sink) serve(open Opener) {
	defer close(k.over)
	w, err := open(k.stop)
	if w == nil || err != nil {
		k.fail(err)
		return
	}
	buffer := make([]byte, 0, piece)
	for err == nil {
		lines, ended := k.take()
		if len(lines) == 0 && ended {
			break
		}
		if len(lines) == 0 {
			<-k.filled
			continue
		}
		err = k.write(w, lines, buffer)
	}
	k.fail(errors.Join(err, w.Close()))
}

// take returns what waits, and whether it is the last of it.
func (k *sink) take() ([][]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := k.waiting
	k.waiting = nil
	return lines, k.ended
}

// write writes lines, many together, and long ones in pieces, through a buffer
// that is empty.
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
			n := min(len(line), piece-len(buffer))
			buffer, line = append(buffer, line[:n]...), line[n:]
			if len(buffer) == piece {
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

// fail ends the sink: nothing is kept for it any more.
func (k *sink) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.waiting, k.size = err, nil, 0
	k.ended = true
}

// close waits for the reader, as Stream.Close says.
func (k *sink) close(patience time.Duration, hurry <-chan struct{}) error {
	k.mu.Lock()
	k.ended = true
	before := k.taken
	k.mu.Unlock()
	select {
	case k.filled <- struct{}{}:
	default:
	}
	defer close(k.stop)
	for {
		timer := time.NewTimer(patience)
		select {
		case <-k.over:
			timer.Stop()
			k.mu.Lock()
			defer k.mu.Unlock()
			return k.err
		case <-hurry:
			timer.Stop()
			return fmt.Errorf("%w any more", ErrNobody)
		case <-timer.C:
		}
		k.mu.Lock()
		now := k.taken
		k.mu.Unlock()
		if now == before {
			return fmt.Errorf("%w: nothing was taken for %s", ErrNobody, patience)
		}
		before = now
	}
}
