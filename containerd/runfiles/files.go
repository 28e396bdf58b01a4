package runfiles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// The names of the files.
const (
	StdinFile  = "stdin"
	StdoutFile = "stdout"
	StderrFile = "stderr"
)

// Files is the standard input and outputs of a run: three plain files. A FIFO
// would need an end held open by someone who may die, and loses its content
// with its reader.
type Files struct {
	Dir            string
	Stdin          string
	Stdout, Stderr *LogFile
}

// New makes the files of a run, and starts to follow the outputs.
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

// newFiles makes the directory of a run, and has it filled.
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

// NewPiped makes the files of a run that is given its input otherwise.
func NewPiped(runtimeDir, id string, s runner.Spec) (*Files, error) {
	return newFiles(runtimeDir, id, func(f *Files) (err error) {
		if f.Stdout, err = NewLogFile(filepath.Join(f.Dir, StdoutFile), os.O_RDWR, s.Stdout); err != nil {
			return err
		}
		f.Stderr, err = NewLogFile(filepath.Join(f.Dir, StderrFile), os.O_RDWR, s.Stderr)
		return err
	})
}

// givenUpFile is there when the client of a run lives and no longer looks after it.
const givenUpFile = "given-up"

// GiveUp says to all clients that this one no longer looks after the run.
func (f *Files) GiveUp() error { return os.WriteFile(filepath.Join(f.Dir, givenUpFile), nil, 0o600) }

// IsGivenUp reports whether a client has given up the run whose files lie in a directory.
func IsGivenUp(dir string) bool { return layout.Exists(filepath.Join(dir, givenUpFile)) }

// MarkBegun says that the start of the program is about to be asked for.
func (f *Files) MarkBegun() error {
	return os.WriteFile(filepath.Join(f.Dir, BeginFile), nil, 0o600)
}

// Remove ends what follows the files, and removes them.
func (f *Files) Remove() error {
	f.Close()
	return os.RemoveAll(f.Dir)
}

// Close ends what follows the files, which stay.
func (f *Files) Close() {
	for _, o := range []*LogFile{f.Stdout, f.Stderr} {
		if o != nil {
			o.Finish()
			_ = o.File.Close() // it was only read
		}
	}
}

// LastWordsLimit is how long the last that a program said may take to come.
const LastWordsLimit = 50 * time.Millisecond

// AwaitComplete waits until the shim has written all that the program printed: it
// closes both files then.
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

// IsQuiet reports whether a program that nothing is asked of has said nothing,
// and not more than so much on stderr.
func IsQuiet(dir string, log int64) bool {
	for name, most := range map[string]int64{StdoutFile: 0, StderrFile: log} {
		if i, err := os.Lstat(filepath.Join(dir, name)); err != nil || !i.Mode().IsRegular() || i.Size() > most {
			return false
		}
	}
	return true
}

// BeginFile lies beside the standard files of a run: its start was about to be
// asked for. Without it, the program never ran.
const BeginFile = "begin"

// EndingLimit is how long the process that looks after a program may take to
// write down how it ended, once it has told so.
const EndingLimit = 10 * time.Second

// AwaitEnding waits for what is about to be written.
func AwaitEnding(ctx context.Context, dir string, limit time.Duration) (e shim.Ending, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = layout.Poll(ctx, time.Millisecond, func() (bool, error) { // that it took too long, ok says
		e, ok = shim.ReadEnding(dir)
		return ok, nil
	})
	return e, ok
}
