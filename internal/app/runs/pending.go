package runs

import (
	"errors"
	"os"
	"path/filepath"

	"deployster/internal/runtime/runner/typeclient"
)

// pendingStep is a query that was recorded as a line. It gets files when the run ends
// with few invocations: people find files in a small run, and a large run does not
// spend time on them.
type pendingStep struct {
	dir   string
	step  Step
	files map[string][]byte
	line  int64 // bytes of the line
}

// isQuery reports whether an invocation cannot change anything.
func isQuery(i typeclient.Invocation) bool {
	return i.Step == typeclient.StepInit || i.Step == typeclient.StepState
}

// addPending adds a query that was recorded as a line. The caller must hold the lock.
func (r *Recorder) addPending(p pendingStep) {
	if r.run.Recorded > KeepFiles {
		r.pending = nil
		return
	}
	r.pending = append(r.pending, p)
}

// writePending writes the files of the queries of a small run, and removes the lines.
// The caller must hold the lock.
func (r *Recorder) writePending() error {
	if r.run.Recorded > KeepFiles || len(r.pending) == 0 {
		return nil
	}
	var err error
	for _, p := range r.pending {
		written, failed := r.writeFiles(p.dir, p.step, p.files)
		err = errors.Join(err, failed)
		r.written[p.step.Resource] = append(r.written[p.step.Resource], p.dir)
		r.run.Bytes += written - p.line
	}
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(r.dir, linesName)) // it has no other lines
}
