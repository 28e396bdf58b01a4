package runfiles

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/runner"
)

const (
	followFast = 2 * time.Millisecond   // between looks at an output that is written to
	WatchEvery = 25 * time.Millisecond  // between looks at the sizes of outputs
	mostPause  = 250 * time.Millisecond // between looks at an output that nobody has written to for long

	// Of an output that may be endless, only about this much is kept on disk.
	keepOnDisk = 16 << 20

	// A watcher that is further behind than the one gets only the other, and
	// is told how much was left out. keepOnDisk is more than both, so that
	// what it gets is still there.
	MaxBehind  = 4 << 20
	keepBehind = 1 << 20
)

// Pause is how long to wait until the next look at an output that was not written to for
// a time: a sixteenth of it, so that what is quiet for days costs nothing.
func Pause(quiet, least time.Duration) time.Duration {
	return min(max(quiet/16, least), mostPause)
}

// LogFile is a file that a program writes to and that is followed meanwhile.
type LogFile struct {
	Path   string
	File   *os.File
	punch  atomic.Int64  // how far the file was emptied
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	follow sync.WaitGroup
}

// NewLogFile makes the file of an output. Access is os.O_RDWR where this process
// writes it itself, and else os.O_RDONLY: see IsComplete.
func NewLogFile(path string, access int, watch io.Writer) (*LogFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|access, 0o600)
	if err != nil {
		return nil, err
	}
	return Follow(f, watch), nil
}

// Follow is an output whose file is there. Whoever watches gets all of it.
func Follow(f *os.File, watch io.Writer) *LogFile {
	o := &LogFile{Path: f.Name(), File: f, end: make(chan struct{})}
	if watch != nil {
		o.follow.Go(func() { o.copyTo(watch) })
	}
	return o
}

// Size is how much was written so far.
func (o *LogFile) Size() int64 {
	i, err := o.File.Stat()
	if err != nil {
		return 0
	}
	return i.Size()
}

// copyTo hands on what is written, as it comes. A watcher that fails gets
// nothing more, and one that is too slow not everything; the program never
// notices.
func (o *LogFile) copyTo(watch io.Writer) {
	buf := make([]byte, 64<<10)
	written := time.Now()
	last := false
	for at := int64(0); ; {
		if size := o.Size(); size-at > MaxBehind {
			left := size - keepBehind - at
			if _, err := fmt.Fprintf(watch, "\n[... %d bytes left out ...]\n", left); err != nil {
				return
			}
			at += left
		}
		n, err := o.File.ReadAt(buf, at)
		if n > 0 && o.punch.Load() > at {
			continue // emptied meanwhile, so it is far behind
		}
		if n > 0 {
			written = time.Now()
			at += int64(n)
			if _, err := watch.Write(buf[:n]); err != nil {
				return
			}
			continue
		}
		if last || err != nil && !errors.Is(err, io.EOF) {
			return
		}
		select {
		case <-o.end:
			last = true // one more look: it may have been written just before
		case <-time.After(Pause(time.Since(written), followFast)):
		}
	}
}

// Finish waits until what was written is handed on, which for a slow watcher
// is the end of it. It is called when nobody writes any more.
func (o *LogFile) Finish() {
	o.ended.Do(func() { close(o.end) })
	o.follow.Wait()
}

// Trim gives the space of an endless output back: of its middle, also when the
// watcher is not that far, which then skips it. What will be kept in the
// result stays.
func (o *LogFile) Trim(keep int64) {
	half := (keep/2 + 4095) &^ 4095
	from, to := max(half, o.punch.Load()), (o.Size()-keepOnDisk-half)&^4095
	if to-from < keepOnDisk {
		return
	}
	// Said before it is done, so that who reads there meanwhile knows.
	o.punch.Store(to)
	if f, err := os.OpenFile(o.Path, os.O_WRONLY, 0); err == nil { // else it just grows
		PunchHole(f, from, to)
		_ = f.Close() // nothing was written
	}
}

// PunchHole gives the space of a part of a file back. Where the file system cannot
// do it, the file just grows.
func PunchHole(f *os.File, from, to int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// TrimAbandoned keeps the logs of a run whose client is dead, and which nobody will
// read, from filling the disk.
func TrimAbandoned(dir string, both bool) {
	for _, name := range []string{StderrFile, StdoutFile} {
		if name == StdoutFile && !both {
			return
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // a daemon's sweeper may not see it
		}
		if i, err := f.Stat(); err == nil && i.Mode().IsRegular() && i.Size() > 2*MaxBehind {
			PunchHole(f, 0, (i.Size()-MaxBehind)&^4095)
		}
		_ = f.Close() // nothing was written
	}
}

// Whole returns everything up to a limit, and whether there is more.
func (o *LogFile) Whole(limit int64) (b []byte, more bool, err error) {
	size := o.Size()
	if limit > 0 && size > limit {
		size, more = limit, true
	}
	b = make([]byte, size)
	n, err := o.File.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], more, err
}

// ReadLog returns the head and the tail of an output that a dead client has left,
// as far as it is there.
func ReadLog(path string, keep int64) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := (&LogFile{File: f}).Log(keep) // what could be read
	return b
}

// Log returns the head and the tail.
func (o *LogFile) Log(keep int64) ([]byte, error) {
	if keep <= 0 {
		keep = runner.DefaultKeepLog
	}
	size := o.Size()
	if size <= keep {
		b, _, err := o.Whole(0)
		return b, err
	}
	l := runner.NewLog(keep)
	head := io.NewSectionReader(o.File, 0, keep/2)
	tail := io.NewSectionReader(o.File, size-keep/2, keep/2)
	_, err1 := io.Copy(l, head)
	l.Skip(size - keep/2*2)
	_, err2 := io.Copy(l, tail)
	return l.Bytes(), errors.Join(err1, err2)
}

// IsComplete reports whether nobody has the file open to write to it: only then the
// kernel gives a lease on it. In doubt somebody has.
func (o *LogFile) IsComplete() bool {
	if _, err := unix.FcntlInt(o.File.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(o.File.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}
