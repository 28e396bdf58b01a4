package runfiles

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/internal/runtime/runner"
)

// The names of the files.
const (
	StdinFile  = "stdin"
	StdoutFile = "stdout"
	StderrFile = "stderr"
)

// Files are the standard input and outputs of a run: three plain files. A FIFO would need
// a process that keeps an end open, which may be killed, and loses its content with its
// reader.
type Files struct {
	Dir            string
	Stdin          string
	Stdout, Stderr *LogFile
}

// New creates the files of a run, and starts to follow the outputs.
func New(runtimeDir, id string, s runner.Spec) (*Files, error) {
	return newFiles(runtimeDir, id, func(f *Files) (err error) {
		if err := os.WriteFile(f.Stdin, s.Stdin, 0o600); err != nil {
			return err
		}
		if f.Stdout, err = NewLogFile(filepath.Join(f.Dir, StdoutFile), os.O_RDONLY, s.Stdout); err != nil {
			return err
		}
		f.Stderr, err = NewLogFile(filepath.Join(f.Dir, StderrFile), os.O_RDONLY, s.Stderr)
		return err
	})
}

// newFiles creates the directory of a run, and calls fill to fill it.
func newFiles(runtimeDir, id string, fill func(*Files) error) (*Files, error) {
	dir := layout.RunDir(runtimeDir, id)
	f := &Files{Dir: dir, Stdin: filepath.Join(dir, StdinFile)}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return nil, layout.ErrRuntimeDir(runtimeDir, err)
	}
	if err := fill(f); err != nil {
		return nil, errors.Join(layout.ErrRuntimeDir(runtimeDir, err), f.Remove())
	}
	return f, nil
}

// InMemory returns the outputs of a run that nobody can find after the death of this process, which copies them
// there itself. Its input is passed in another way.
func InMemory(s runner.Spec) (f *Files, err error) {
	f = new(Files)
	if f.Stdout, err = memoryFile(StdoutFile, s.Stdout); err == nil {
		f.Stderr, err = memoryFile(StderrFile, s.Stderr)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("creating a file in memory: %w", err)
	}
	return f, nil
}

// givenUpFile exists if the client of a run is alive but no longer supervises it.
const givenUpFile = "given-up"

// GiveUp notifies all clients that this one no longer supervises the run.
func (f *Files) GiveUp() error { return os.WriteFile(filepath.Join(f.Dir, givenUpFile), nil, 0o600) }

// IsGivenUp reports whether a client has given up the run with this directory.
func IsGivenUp(dir string) bool { return layout.Exists(filepath.Join(dir, givenUpFile)) }

// MarkBegun records that the start of the program is about to be requested.
func (f *Files) MarkBegun() error {
	return os.WriteFile(filepath.Join(f.Dir, BeginFile), nil, 0o600)
}

// Remove stops following the files, and removes them.
func (f *Files) Remove() error {
	f.Close()
	return layout.RemoveFiles(f.Dir)
}

// Close stops following the files, but keeps them.
func (f *Files) Close() {
	for _, o := range []*LogFile{f.Stdout, f.Stderr} {
		if o != nil {
			o.Finish()
			_ = o.File.Close() // it was only read
		}
	}
}

// LastWordsLimit is how long AwaitComplete waits for the last output of a program.
const LastWordsLimit = 50 * time.Millisecond

// AwaitComplete waits until the shim has written the whole output of the program: then
// the shim closes both files.
func (f *Files) AwaitComplete(ctx context.Context) bool {
	pause := 50 * time.Microsecond
	for end := time.Now().Add(LastWordsLimit); ; pause = min(2*pause, 2*time.Millisecond) {
		if f.Stdout.IsComplete() && f.Stderr.IsComplete() {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
}

// IsQuiet reports whether a program without requests has written nothing to stdout, and
// at most log bytes to stderr.
func IsQuiet(dir string, log int64) bool {
	for name, most := range map[string]int64{StdoutFile: 0, StderrFile: log} {
		if i, err := os.Lstat(filepath.Join(dir, name)); err != nil || !i.Mode().IsRegular() || i.Size() > most {
			return false
		}
	}
	return true
}

// BeginFile is a file next to the standard files of a run: its start was about to be
// requested. Without it, the program never ran.
const BeginFile = "begin"

// EndingLimit is how long the shim of a program may take to record how it ended, once it
// has reported the end.
const EndingLimit = 10 * time.Second

// AwaitEnding waits until the shim has recorded how a program ended; ok is false if it did not in time.
func AwaitEnding(ctx context.Context, dir string, limit time.Duration) (e shim.Ending, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = layout.Poll(ctx, time.Millisecond, func() (bool, error) { // ok reports whether it took too long
		e, ok = shim.ReadEnding(dir)
		return ok, nil
	})
	return e, ok
}
