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
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
)

// Conversation has what a worker needs besides the standard files. Its stdin is a FIFO,
// which ends when this client does, however that ends. Its stdout is a file, and a ledger
// next to it lists the actions that were requested: so other clients can find out how they
// ended.
type Conversation struct {
	Input  *os.File
	Tail   *TailReader
	Ledger *Ledger
}

// NewConversation creates the files of a worker: a FIFO for stdin, and plain files.
func NewConversation(runtimeDir, id string, s runner.Spec, p *Conversation) (*Files, error) {
	return newFiles(runtimeDir, id, func(f *Files) (err error) {
		if err := unix.Mkfifo(f.Stdin, 0o600); err != nil {
			return &os.PathError{Op: "mkfifo", Path: f.Stdin, Err: err}
		}
		// Both ends at once: so opening does not wait for the shim, and the FIFO does not
		// end before the shim has opened it.
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

// ReopenConversation opens the files of a worker of an earlier client.
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

// Close closes what is still open, except for output of the program that was not read
// yet.
func (p *Conversation) Close() {
	if p.Input != nil {
		_ = p.Input.Close() // no process reads it any more
	}
	if p.Tail != nil {
		p.Tail.Finish()
	}
	if p.Ledger != nil {
		p.Ledger.Close()
	}
}

// MaxUnread is how many bytes of a worker's output may be unread. It is needed because a
// file takes everything, whereas a pipe would make the worker wait.
const MaxUnread = 128 << 20

// TailReader reads the output of a worker: a file that is read while it grows, and that
// other clients can read if this one is killed.
type TailReader struct {
	file   *os.File
	at     atomic.Int64
	punch  int64         // offset up to which the file was emptied; used by Release only
	grows  *os.File      // an inotify file that is readable when the file has grown; nil = it is polled
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	closed sync.Once
}

// openTail opens such a file, which must exist.
func openTail(path string) (*TailReader, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &TailReader{file: f, end: make(chan struct{})}
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil { // a failure means too many instances
		s.grows = os.NewFile(uintptr(fd), "inotify")
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
			_ = s.grows.Close() // it never becomes readable
			s.grows = nil
		}
	}
	return s, nil
}

// Read waits for more output, until its end.
func (s *TailReader) Read(p []byte) (int, error) {
	began := time.Now()
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
			last = true // read once more: output may have been written just before
		default:
			s.wait(time.Since(began))
		}
	}
}

// wait returns when there may be more output, or when the output has ended. quiet is how
// long there was none.
func (s *TailReader) wait(quiet time.Duration) {
	if s.grows == nil {
		select {
		case <-s.end:
		case <-time.After(Pause(quiet, followFast, mostPause)):
		}
		return
	}
	// Older kernels report nothing of splice, by which Go copies a connection to stdout.
	_ = s.grows.SetReadDeadline(time.Now().Add(parallel.Aligned(LongPause)))
	select {
	case <-s.end: // Finish may have set an earlier deadline
		return
	default:
	}
	var events [4 << 10]byte
	if _, err := s.grows.Read(events[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		time.Sleep(followFast)
	}
}

// Unread returns how many bytes were not read yet.
func (s *TailReader) Unread() int64 {
	i, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return i.Size() - s.at.Load()
}

// Release frees the disk space before an offset at which a line begins. It keeps the end
// of the line before, so that other readers see that a line begins there.
func (s *TailReader) Release(offset int64) {
	if to := (offset - 1) &^ 4095; to > s.punch {
		PunchHole(s.file, s.punch, to)
		s.punch = to
	}
}

// Finish must be called when nobody writes any more.
func (s *TailReader) Finish() {
	s.ended.Do(func() {
		close(s.end)
		if s.grows != nil {
			_ = s.grows.SetReadDeadline(time.Unix(1, 0)) // wakes up wait
		}
	})
}

// Close must be called when nobody reads any more.
func (s *TailReader) Close() {
	s.Finish()
	s.closed.Do(func() {
		_ = s.file.Close() // it was only read
		if s.grows != nil {
			_ = s.grows.Close()
		}
	})
}
