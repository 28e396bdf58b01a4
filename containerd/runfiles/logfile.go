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

	"deployster/internal/base/loglines"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
)

const (
	followFast = 2 * time.Millisecond   // interval between reads of an output that is being written
	WatchEvery = 25 * time.Millisecond  // interval between checks of the sizes of outputs
	mostPause  = 250 * time.Millisecond // interval between reads of an answer that has not come for long
	LongPause  = time.Second            // the same for what nothing waits for: a log, and the sizes of outputs

	// Of an endless output, only about this much is kept on disk.
	keepOnDisk = 16 << 20

	// A watcher that is more than MaxBehind behind gets only the last keepBehind bytes,
	// and a note of how much was left out. keepOnDisk is more than both, so that these
	// bytes still exist.
	MaxBehind  = 4 << 20
	keepBehind = 1 << 20
)

// Pause returns how long to wait before the next read of an output that was quiet for a
// time: a sixteenth of that time, so that an output that is quiet for days costs almost nothing. The
// longest pauses of all outputs end together.
func Pause(quiet, least, most time.Duration) time.Duration {
	if quiet >= 16*most {
		return parallel.Aligned(most)
	}
	return min(max(quiet/16, least), most)
}

// LogFile is a file that a program writes to, and that is followed meanwhile.
type LogFile struct {
	Path   string
	File   *os.File
	punch  atomic.Int64  // offset up to which the file was emptied
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	follow sync.WaitGroup
}

// NewLogFile creates the file of an output. Access is os.O_RDWR if this process writes
// the file itself, otherwise os.O_RDONLY: see IsComplete.
func NewLogFile(path string, access int, watch io.Writer) (*LogFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|access, 0o600)
	if err != nil {
		return nil, err
	}
	return Follow(f, watch), nil
}

// memoryFile creates the file of an output that this process writes itself, and that ends with it.
func memoryFile(name string, watch io.Writer) (*LogFile, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return Follow(os.NewFile(uintptr(fd), fmt.Sprintf("/proc/self/fd/%d", fd)), watch), nil
}

// Follow returns the LogFile of an existing file. The watcher gets all of its content.
func Follow(f *os.File, watch io.Writer) *LogFile {
	o := &LogFile{Path: f.Name(), File: f, end: make(chan struct{})}
	if watch != nil {
		o.follow.Go(func() { o.copyTo(watch) })
	}
	return o
}

// Size returns how many bytes were written so far.
func (o *LogFile) Size() int64 {
	i, err := o.File.Stat()
	if err != nil {
		return 0
	}
	return i.Size()
}

// copyTo copies the output to the watcher as it is written. A watcher that fails gets
// nothing more, and one that is too slow not everything; the program never notices.
func (o *LogFile) copyTo(watch io.Writer) {
	buf := make([]byte, 64<<10)
	written := time.Now()
	last := false
	for at := int64(0); ; {
		if size := o.Size(); size-at > MaxBehind {
			left := size - keepBehind - at
			if _, err := io.WriteString(watch, loglines.Gap(left)); err != nil {
				return
			}
			at += left
		}
		n, err := o.File.ReadAt(buf, at)
		if n > 0 && o.punch.Load() > at {
			continue // emptied in the meantime, so the watcher is far behind
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
			last = true // read once more: output may have been written just before
		case <-time.After(Pause(time.Since(written), followFast, LongPause)):
		}
	}
}

// Finish waits until the watcher has got the whole output; it waits as long as a slow
// watcher takes. It must be called when nobody writes any more.
func (o *LogFile) Finish() {
	o.ended.Do(func() { close(o.end) })
	o.follow.Wait()
}

// Trim frees the disk space of the middle of an endless output, even if the watcher has
// not read it, which then skips it. It keeps the bytes that the result needs.
func (o *LogFile) Trim(keep int64) {
	half := (keep/2 + 4095) &^ 4095
	from, to := max(half, o.punch.Load()), (o.Size()-keepOnDisk-half)&^4095
	if to-from < keepOnDisk {
		return
	}
	// Stored first, so that a concurrent reader knows it.
	o.punch.Store(to)
	if f, err := os.OpenFile(o.Path, os.O_WRONLY, 0); err == nil { // on failure the file just grows
		PunchHole(f, from, to)
		_ = f.Close() // nothing was written
	}
}

// PunchHole frees the disk space of a part of a file. If the file system cannot do that,
// the file just grows.
func PunchHole(f *os.File, from, to int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// TrimAbandoned prevents the logs of a run without a client, which nobody will read, from
// filling the disk.
func TrimAbandoned(dir string, both bool) {
	for _, name := range []string{StderrFile, StdoutFile} {
		if name == StdoutFile && !both {
			return
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // the sweeper of a daemon's client may not see it
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

// ReadLog returns the head and the tail of an output that a killed client has left, as
// far as they can be read.
func ReadLog(path string, keep int64) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := (&LogFile{File: f}).Log(keep) // what could be read
	return b
}

// Log returns the head and the tail of the output, keep bytes in all.
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

// IsComplete reports whether no process has the file open for writing: only then the
// kernel grants a lease on it. In doubt it returns false.
func (o *LogFile) IsComplete() bool {
	if _, err := unix.FcntlInt(o.File.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(o.File.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}
