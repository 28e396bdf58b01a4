package runs

import (
	"errors"
	"os"
	"path/filepath"

	"deployster/internal/runner/typeclient"
)

// pendingStep is a query that is a line, and gets files when the run ends without
// many more: people find files in a small run, and a large one does not wait for
// them.
type pendingStep struct {
	dir   string
	step  Step
	files map[string][]byte
	line  int64 // bytes of the line
}

// isQuery reports whether an invocation could change nothing.
func isQuery(i typeclient.Invocation) bool {
	return i.Step == typeclient.StepInit || i.Step == typeclient.StepState
}

// addPending adds a query that is a line. The lock must be held.
func (r *Recorder) addPending(p pendingStep) {
	if r.run.Recorded > KeepFiles {
		r.pending = nil
		return
	}
	r.pending = append(r.pending, p)
}

// writePending writes the files of the queries of a small run, and removes the
// lines. The lock must be held.
func (r *Recorder) writePending() error {
	if r.run.Recorded > KeepFiles || len(r.pending) == 0 {
		return nil
	}
	var err error
	for _, p := range r.pending {
		written, failed := r.writeFiles(p.dir, p.step, p.files)
		err = errors.Join(err, failed)
		r.run.Bytes += written - p.line
	}
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(r.dir, linesName)) // nothing else is in it
}
