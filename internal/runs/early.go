package runs

import (
	"errors"
	"os"
	"path/filepath"

	"deployster/internal/runner/typeclient"
)

// early is a question that is a line, and is to have files when the run ends
// without many more: who looks at a small run finds files, and a large one does
// not wait for them.
type early struct {
	dir   string
	step  Step
	files map[string][]byte
	line  int64 // its length, in bytes
}

// asks reports whether an invocation only looked, and did nothing.
func asks(i typeclient.Invocation) bool {
	return i.Step == typeclient.StepInit || i.Step == typeclient.StepState
}

// keepEarly remembers what is written as a line. The lock is held.
func (r *Recorder) keepEarly(e early) {
	if r.run.Recorded > KeepFiles {
		r.early = nil // there will be too many
		return
	}
	r.early = append(r.early, e)
}

// settleEarly gives the questions of a small run their files, and takes the lines
// away then. The lock is held.
func (r *Recorder) settleEarly() error {
	if r.run.Recorded > KeepFiles || len(r.early) == 0 {
		return nil
	}
	var err error
	for _, e := range r.early {
		written, failed := r.writeFiles(e.dir, e.step, e.files)
		err = errors.Join(err, failed)
		r.run.Bytes += written - e.line
	}
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(r.dir, furtherName)) // nothing else is in it
}
