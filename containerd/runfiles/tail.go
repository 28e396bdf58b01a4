package runfiles

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// MaxUnread is how much a program that is spoken to may be ahead of who reads
// what it says, in bytes: a file takes everything, where a pipe would make it
// wait.
const MaxUnread = 128 << 20

// tailReader is what a program says that is spoken to: a file that is read as it
// grows, and that others can read when its reader is dead.
type tailReader struct {
	file   *os.File
	at     atomic.Int64
	punch  int64         // how far it was emptied; of who calls release
	grows  *os.File      // has something to read when the file has grown; nil = it is looked for
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	closed sync.Once
}

// openTail opens such a file, which is there.
func openTail(path string) (*tailReader, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &tailReader{file: f, end: make(chan struct{})}
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil { // else there are too many already
		s.grows = os.NewFile(uintptr(fd), "inotify")
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
			_ = s.grows.Close() // it has nothing to tell
			s.grows = nil
		}
	}
	return s, nil
}

// Read waits for more, until its end.
func (s *tailReader) Read(p []byte) (int, error) {
	for last := false; ; {
		n, err := s.file.ReadAt(p, s.at.Load())
		if n > 0 {
			s.at.Add(int64(n))
			return n, nil
		}
		if last || err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		select {
		case <-s.end:
			last = true // one more look: it may have been written just before
		default:
			s.wait()
		}
	}
}

// wait returns when there may be more, or nothing more comes.
func (s *tailReader) wait() {
	if s.grows == nil {
		select {
		case <-s.end:
		case <-time.After(followFast):
		}
		return
	}
	var events [4 << 10]byte
	if _, err := s.grows.Read(events[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		time.Sleep(followFast)
	}
}

// Unread is how far its reader is behind.
func (s *tailReader) Unread() int64 {
	i, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return i.Size() - s.at.Load()
}

// Release gives back the space of what lies before an offset where a line begins.
// The end of the line before it stays, so that others see where one begins.
func (s *tailReader) Release(offset int64) {
	if to := (offset - 1) &^ 4095; to > s.punch {
		PunchHole(s.file, s.punch, to)
		s.punch = to
	}
}

// Finish is called when nobody writes any more.
func (s *tailReader) Finish() {
	s.ended.Do(func() {
		close(s.end)
		if s.grows != nil {
			_ = s.grows.SetReadDeadline(time.Unix(1, 0)) // wakes up who waits
		}
	})
}

// Close is called when nobody reads any more.
func (s *tailReader) Close() {
	s.Finish()
	s.closed.Do(func() {
		_ = s.file.Close() // it was only read
		if s.grows != nil {
			_ = s.grows.Close()
		}
	})
}
