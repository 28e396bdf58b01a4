package runnertest

import (
	"bytes"
	"io"
	"sync"

	"deployster/internal/runtime/runner"
)

func newStdin(b []byte) io.Reader { return bytes.NewReader(b) }

// stream is a program's stdout or stderr. It keeps what the Result needs, and passes
// everything on to the watcher in its own goroutine, so that a slow watcher does not
// block the program.
type stream struct {
	limit    int64         // of bytes; 0 = none
	exceeded chan struct{} // closed when the limit is exceeded

	mu     sync.Mutex
	more   *sync.Cond
	whole  *bytes.Buffer // either whole or log is set
	log    *runner.Log
	queue  []byte
	total  int64
	closed bool
	idle   chan struct{} // closed when the watcher has got everything
}

func newStream(watch io.Writer, keep int64, whole bool) *stream {
	s := &stream{idle: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	if whole {
		s.whole = &bytes.Buffer{}
	} else {
		s.log = runner.NewLog(keep)
	}
	if watch == nil {
		watch = io.Discard
	}
	go s.pump(watch)
	return s
}

// Write fails after the invocation has ended, as a write to a closed pipe does.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	n := len(p)
	passed := s.limit > 0 && s.total+int64(n) > s.limit
	if passed {
		p = p[:s.limit-s.total]
	}
	s.total += int64(len(p))
	if s.whole != nil {
		s.whole.Write(p)
	} else {
		s.log.Write(p)
	}
	s.queue = append(s.queue, p...)
	s.more.Signal()
	if passed {
		s.closed = true
		close(s.exceeded)
		return len(p), io.ErrClosedPipe
	}
	return n, nil
}

func (s *stream) pump(watch io.Writer) {
	defer close(s.idle)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed {
			s.more.Wait()
		}
		p := s.queue
		s.queue = nil
		s.mu.Unlock()
		if len(p) == 0 {
			return
		}
		if watch != nil {
			if _, err := watch.Write(p); err != nil {
				watch = nil
			}
		}
	}
}

// finish rejects further writes, waits for the watcher, and returns the kept output.
func (s *stream) finish() []byte {
	s.mu.Lock()
	s.closed = true
	s.more.Signal()
	s.mu.Unlock()
	<-s.idle
	if s.whole != nil {
		return s.whole.Bytes()
	}
	return s.log.Bytes()
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// onFirst calls f at the first write.
func onFirst(f func()) writer {
	var once sync.Once
	return func(p []byte) (int, error) {
		once.Do(f)
		return len(p), nil
	}
}
