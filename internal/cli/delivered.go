package cli

import (
	"errors"
	"slices"
	"syscall"

	"deployster/internal/cli/commandline"

	"deployster/internal/base/diag"
	"deployster/internal/cli/process"
)

// printsOnly reports whether what a command prints is all that it is for: the exit
// codes of others tell something too.
func printsOnly(l commandline.Line) bool {
	switch l.Command() {
	case "show", "output", "graph", "version":
		return true
	case "state", "runs", "image", "type", "artifact":
		printing := []string{"list", "ls", "show", "pull", "copies", "logs", "inspect", "status", "versions"}
		return len(l.Path) > 1 && slices.Contains(printing, l.Path[1])
	case "resolve":
		return l.Values["as"] == ""
	case "plan":
		return l.Values["out"] == "" && l.Values["json-into"] == "" && l.Values["detailed-exitcode"] == ""
	}
	return false
}

// delivered gives the exit code that tells the truth. Where to print was all that
// there was to do, a result that was not delivered is an error; an apply has done
// what it has done. A reader who went away has what was wanted, and needs no
// message.
func delivered(w *process.Output, e Env, code int) int {
	err := w.Err()
	if errors.Is(err, process.ErrClosed) && !printsOnly(e.line) {
		return code
	}
	if err == nil || e.run.json { // of the events it was said already
		return code
	}
	if slices.Contains([]string{"apply", "destroy"}, e.line.Command()) {
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
