package containerd

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// maxUnread is how much a program that is spoken to may be ahead of who reads
// what it says, in bytes: a file takes everything, where a pipe would make it
// wait.
const maxUnread = 128 << 20

// said is what a program says that is spoken to: a file that is read as it
// grows, and that others can read when its reader is dead.
type said struct {
	file   *os.File
	at     atomic.Int64
	punch  int64         // how far it was emptied; of who calls release
	grows  *os.File      // has something to read when the file has grown; nil = it is looked for
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	closed sync.Once
}

// openSaid opens such a file, which is there.
func openSaid(path string) (*said, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &said{file: f, end: make(chan struct{})}
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
func (s *said) Read(p []byte) (int, error) {
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
func (s *said) wait() {
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

// unread is how far its reader is behind.
func (s *said) unread() int64 {
	i, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return i.Size() - s.at.Load()
}

// release gives back the space of what lies before an offset where a line begins.
// The end of the line before it stays, so that others see where one begins.
func (s *said) release(offset int64) {
	if to := (offset - 1) &^ 4095; to > s.punch {
		empty(s.file, s.punch, to)
		s.punch = to
	}
}

// finish is called when nobody writes any more.
func (s *said) finish() {
	s.ended.Do(func() {
		close(s.end)
		if s.grows != nil {
			_ = s.grows.SetReadDeadline(time.Unix(1, 0)) // wakes up who waits
		}
	})
}

// close is called when nobody reads any more.
func (s *said) close() {
	s.finish()
	s.closed.Do(func() {
		_ = s.file.Close() // it was only read
		if s.grows != nil {
			_ = s.grows.Close()
		}
	})
}
