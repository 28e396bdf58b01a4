package runfiles

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/internal/runner"
)

// Conversation is what there is, beside the standard files, of a program that is
// spoken to while it runs. Its stdin is a FIFO, which ends when this client does,
// however that ends. Its stdout is a file, and beside it lies what actions it was
// asked for: so their ends can be found out by others.
type Conversation struct {
	Input  *os.File
	Tail   *tailReader
	Ledger *ledger
}

// NewConversation makes the files of a program that is spoken to: a FIFO for stdin, and
// plain files.
func NewConversation(runtimeDir, id string, s runner.Spec, p *Conversation) (*Files, error) {
	return newFiles(runtimeDir, id, func(f *Files) (err error) {
		if err := unix.Mkfifo(f.Stdin, 0o600); err != nil {
			return &os.PathError{Op: "mkfifo", Path: f.Stdin, Err: err}
		}
		// Both ends at once: it does not wait for the shim, and has not ended
		// before that has come.
		if p.Input, err = os.OpenFile(f.Stdin, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		if f.Stdout, err = NewLogFile(filepath.Join(f.Dir, StdoutFile), os.O_RDWR, nil); err != nil {
			return err
		}
		if p.Tail, err = openTail(f.Stdout.Path); err != nil {
			return err
		}
		if p.Ledger, err = newLedger(f.Dir); err != nil {
			return err
		}
		f.Stderr, err = NewLogFile(filepath.Join(f.Dir, StderrFile), os.O_RDWR, s.Stderr)
		return err
	})
}

// ReopenConversation opens the files of a program that others have spoken to.
func ReopenConversation(runtimeDir, id string, p *Conversation) (f *Files, err error) {
	dir := layout.RunDir(runtimeDir, id)
	f = &Files{Dir: dir, Stdin: filepath.Join(dir, StdinFile)}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.Stdout, err = reopenLogFile(filepath.Join(f.Dir, StdoutFile)); err != nil {
		return nil, err
	}
	if f.Stderr, err = reopenLogFile(filepath.Join(f.Dir, StderrFile)); err != nil {
		return nil, err
	}
	if p.Tail, err = openTail(f.Stdout.Path); err != nil {
		return nil, err
	}
	if p.Ledger, err = newLedger(f.Dir); err != nil {
		p.Tail.Close()
		return nil, err
	}
	return f, nil
}

func reopenLogFile(path string) (*LogFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return Follow(file, nil), nil
}

// Close ends what is still open, but for what the program has said and nobody
// has read yet.
func (p *Conversation) Close() {
	if p.Input != nil {
		_ = p.Input.Close() // nobody is at the other end
	}
	if p.Tail != nil {
		p.Tail.Finish()
	}
	if p.Ledger != nil {
		p.Ledger.close()
	}
}

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
