package runfiles

import (
	"os"
	"path/filepath"

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
