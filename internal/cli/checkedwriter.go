package cli

import (
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"

	"deployster/internal/base/diag"

	"deployster/internal/cli/process"
)

// printsOnly reports whether what a command prints is all that it is for: the exit
// codes of others tell something too.
func (l commandLine) printsOnly() bool {
	switch l.command() {
	case "show", "output", "graph", "version":
		return true
	case "state", "runs", "image", "type":
		return len(l.path) > 1 && slices.Contains([]string{"list", "ls", "show", "pull", "copies", "logs", "inspect"}, l.path[1])
	case "resolve":
		return l.values["as"] == ""
	case "plan":
		return l.values["out"] == "" && l.values["json-into"] == "" && l.values["detailed-exitcode"] == ""
	}
	return false
}

// checkedWriter is stdout, and remembers whether all that was printed there got
// there. What is printed goes on all the same: that nobody reads must not stop
// an apply.
type checkedWriter struct {
	mu  sync.Mutex
	out io.Writer
	err error // the first
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil {
			w.err = err
		}
	}
	return n, err
}

// conclude gives the exit code that tells the truth. Where to print was all that
// there was to do, a result that was not delivered is an error; an apply has done
// what it has done. A reader who went away has what was wanted, and needs no
// message.
func (w *checkedWriter) conclude(e Env, code int) int {
	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	if errors.Is(err, process.ErrClosed) && !e.line.printsOnly() {
		return code
	}
	if err == nil || e.run.json { // of the events it was said already
		return code
	}
	if slices.Contains([]string{"apply", "destroy"}, e.line.command()) {
		if !errors.Is(err, syscall.EPIPE) {
			e.run.diagnostics(e, diag.Warningf("Not all of the result was delivered", "Writing to stdout failed: %s. What was done is in the "+
				"state file, and the exit code says how it ended.", err))
		}
		return code
	}
	if !errors.Is(err, syscall.EPIPE) {
		e.run.diagnostics(e, diag.Errorf("The result was not delivered", "Writing to stdout failed: %s.", err))
	}
	if code == exitInterrupted {
		return code
	}
	return exitError
}
