package programs

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/runner"
)

// sink takes what a program prints on one stream. Its Write never fails.
type sink struct {
	whole []byte      // of an answer
	log   *runner.Log // of a log; nil = it is an answer
	most  int64       // bytes that may be printed; 0 = no limit
	over  chan struct{}
	size  int64
	live  io.Writer // nil = nobody watches
}

func newSink(log bool, keep, most int64, live io.Writer) *sink {
	s := &sink{most: most, over: make(chan struct{}), live: live}
	if log {
		s.log = runner.NewLog(keep)
	}
	return s
}

func (s *sink) Write(p []byte) (int, error) {
	n := len(p)
	before := s.size
	s.size += int64(n)
	if s.most > 0 && s.size > s.most {
		if before <= s.most {
			close(s.over)
		}
		p = p[:max(s.most-before, 0)]
	}
	if s.log != nil {
		_, _ = s.log.Write(p)
	} else {
		s.whole = append(s.whole, p...)
	}
	if s.live != nil && len(p) > 0 {
		_, _ = s.live.Write(p) // a watcher that fails changes nothing
	}
	return n, nil
}

func (s *sink) bytes() []byte {
	if s.log != nil {
		return s.log.Bytes()
	}
	return s.whole
}

// drain copies what comes out of a pipe until its end, or until the program has ended and the pipe is
// empty: a process that the program has left behind may keep the pipe open.
func drain(to io.Writer, from *os.File, ended <-chan struct{}) {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ended:
			_ = from.SetReadDeadline(time.Unix(1, 0)) // a pipe supports it
		case <-over:
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		_, _ = to.Write(buf[:n]) // who reads it may be gone
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return
		}
	}
	_ = from.SetReadDeadline(time.Time{})
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	for n := 1; n > 0; {
		err := raw.Read(func(fd uintptr) bool {
			for {
				if n, err = unix.Read(int(fd), buf); !errors.Is(err, unix.EINTR) {
					return true // also if it is empty
				}
			}
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = to.Write(buf[:n])
	}
}
