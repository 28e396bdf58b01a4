package containerd

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
	followSlow = 20 * time.Millisecond // between looks at an output nobody writes to
	followFast = 2 * time.Millisecond
	watchEvery = 25 * time.Millisecond // between looks at the sizes of outputs

	// Of an output that may be endless, only about this much is kept on disk.
	keepOnDisk = 16 << 20

	// A watcher that is further behind than the one gets only the other, and
	// is told how much was left out. keepOnDisk is more than both, so that
	// what it gets is still there.
	maxBehind  = 4 << 20
	keepBehind = 1 << 20
)

// The names of the files.
const (
	stdinFile  = "stdin"
	stdoutFile = "stdout"
	stderrFile = "stderr"
)

// stdio is the standard input and outputs of a run: three plain files. A FIFO
// would need an end held open by someone who may die, and loses its content
// with its reader.
type stdio struct {
	dir            string
	stdin          string
	stdout, stderr *output
}

func (r *Runtime) ioDir() string { return filepath.Join(r.runtimeDir, "io", r.id) }

// newStdio makes the files of a run, and starts to follow the outputs.
func (r *Runtime) newStdio(id string, s runner.Spec) (*stdio, error) {
	return r.newFiles(id, func(f *stdio) (err error) {
		if err := os.WriteFile(f.stdin, s.Stdin, 0o600); err != nil {
			return err
		}
		if f.stdout, err = newOutput(filepath.Join(f.dir, stdoutFile), os.O_RDONLY, s.Stdout); err != nil {
			return err
		}
		f.stderr, err = newOutput(filepath.Join(f.dir, stderrFile), os.O_RDONLY, s.Stderr)
		return err
	})
}

// newFiles makes the directory of a run, and has it filled.
func (r *Runtime) newFiles(id string, fill func(*stdio) error) (*stdio, error) {
	dir := filepath.Join(r.runtimeDir, "io", clientOf(id), id)
	f := &stdio{dir: dir, stdin: filepath.Join(dir, stdinFile)}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, errRuntimeDir(r.runtimeDir, err)
	}
	if err := fill(f); err != nil {
		return nil, errors.Join(errRuntimeDir(r.runtimeDir, err), f.remove())
	}
	return f, nil
}

// begin says that the start of the program is about to be asked for.
func (f *stdio) begin() error {
	return os.WriteFile(filepath.Join(f.dir, beginFile), nil, 0o600)
}

// remove ends what follows the files, and removes them.
func (f *stdio) remove() error {
	f.close()
	return os.RemoveAll(f.dir)
}

// close ends what follows the files, which stay.
func (f *stdio) close() {
	for _, o := range []*output{f.stdout, f.stderr} {
		if o != nil {
			o.finish()
			if o.file != nil {
				_ = o.file.Close() // it was only read
			}
		}
	}
}

// output is a file that a program writes to and that is followed meanwhile.
type output struct {
	path   string
	file   *os.File      // nil = somebody reads it as it comes, and nothing is kept
	punch  atomic.Int64  // how far the file was emptied
	end    chan struct{} // closed when no more is written
	ended  sync.Once
	follow sync.WaitGroup
}

// newOutput makes the file of an output. Access is os.O_RDWR where this process
// writes it itself, and else os.O_RDONLY: see unwritten.
func newOutput(path string, access int, watch io.Writer) (*output, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|access, 0o600)
	if err != nil {
		return nil, err
	}
	return newFollowed(f, watch), nil
}

// newFollowed is an output whose file is there. Whoever watches gets all of it.
func newFollowed(f *os.File, watch io.Writer) *output {
	o := &output{path: f.Name(), file: f, end: make(chan struct{})}
	if watch != nil {
		o.follow.Add(1)
		go func() {
			defer o.follow.Done()
			o.copyTo(watch)
		}()
	}
	return o
}

// size is how much was written so far.
func (o *output) size() int64 {
	if o.file == nil {
		return 0
	}
	i, err := o.file.Stat()
	if err != nil {
		return 0
	}
	return i.Size()
}

// copyTo hands on what is written, as it comes. A watcher that fails gets
// nothing more, and one that is too slow not everything; the program never
// notices.
func (o *output) copyTo(watch io.Writer) {
	buf := make([]byte, 64<<10)
	pause := followFast
	last := false
	for at := int64(0); ; {
		if size := o.size(); size-at > maxBehind {
			left := size - keepBehind - at
			if _, err := fmt.Fprintf(watch, "\n[... %d bytes left out ...]\n", left); err != nil {
				return
			}
			at += left
		}
		n, err := o.file.ReadAt(buf, at)
		if n > 0 && o.punch.Load() > at {
			continue // emptied meanwhile, so it is far behind
		}
		if n > 0 {
			pause = followFast
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
		case <-time.After(pause):
			pause = min(pause*2, followSlow)
		}
	}
}

// finish waits until what was written is handed on, which for a slow watcher
// is the end of it. It is called when nobody writes any more.
func (o *output) finish() {
	o.ended.Do(func() { close(o.end) })
	o.follow.Wait()
}

// trim gives the space of an endless output back: of its middle, also when the
// watcher is not that far, which then skips it. What will be kept in the
// result stays.
func (o *output) trim(keep int64) {
	half := (keep/2 + 4095) &^ 4095
	from, to := max(half, o.punch.Load()), (o.size()-keepOnDisk-half)&^4095
	if to-from < keepOnDisk {
		return
	}
	// Said before it is done, so that who reads there meanwhile knows.
	o.punch.Store(to)
	if f, err := os.OpenFile(o.path, os.O_WRONLY, 0); err == nil { // else it just grows
		empty(f, from, to)
		_ = f.Close() // nothing was written
	}
}

// empty gives the space of a part of a file back. Where the file system cannot
// do it, the file just grows.
func empty(f *os.File, from, to int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// trimLeft keeps the logs of a run whose client is dead, and which nobody will
// read, from filling the disk.
func trimLeft(dir string, both bool) {
	for _, name := range []string{stderrFile, stdoutFile} {
		if name == stdoutFile && !both {
			return
		}
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // a daemon's sweeper may not see it
		}
		if i, err := f.Stat(); err == nil && i.Mode().IsRegular() && i.Size() > 2*maxBehind {
			empty(f, 0, (i.Size()-maxBehind)&^4095)
		}
		_ = f.Close() // nothing was written
	}
}

// whole gives everything up to a limit, and whether there is more.
func (o *output) whole(limit int64) (b []byte, more bool, err error) {
	if o.file == nil {
		return nil, false, nil
	}
	size := o.size()
	if limit > 0 && size > limit {
		size, more = limit, true
	}
	b = make([]byte, size)
	n, err := o.file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], more, err
}

// readLog gives the head and the tail of an output that a dead client has left,
// as far as it is there.
func readLog(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := (&output{file: f}).log(0) // what could be read
	return b
}

// log gives the head and the tail.
func (o *output) log(keep int64) ([]byte, error) {
	if keep <= 0 {
		keep = runner.DefaultKeepLog
	}
	size := o.size()
	if size <= keep {
		b, _, err := o.whole(0)
		return b, err
	}
	l := runner.NewLog(keep)
	head := io.NewSectionReader(o.file, 0, keep/2)
	tail := io.NewSectionReader(o.file, size-keep/2, keep/2)
	_, err1 := io.Copy(l, head)
	l.Skip(size - keep/2*2)
	_, err2 := io.Copy(l, tail)
	return l.Bytes(), errors.Join(err1, err2)
}
