package cli

import (
	"errors"
	"slices"
	"syscall"

	"deployster/internal/cli/commandline"

	"deployster/internal/base/diag"
	"deployster/internal/cli/process"
)

// printsOnly reports whether the only purpose of a command is its output: the exit codes
// of other commands have a meaning too.
func printsOnly(l commandline.Line) bool {
	switch l.Command() {
	case "show", "output", "graph", "version":
		return true
	case "state", "runs", "image", "type", "artifact":
		printing := []string{"list", "ls", "show", "pull", "copies", "history", "logs", "inspect", "status", "versions"}
		return len(l.Path) > 1 && slices.Contains(printing, l.Path[1])
	case "resolve":
		return l.Values["as"] == ""
	case "plan":
		return l.Values["out"] == "" && l.Values["json-into"] == "" && l.Values["detailed-exitcode"] == ""
	}
	return false
}

// delivered returns the exit code with regard to the output. If a command only prints, a
// result that could not be written is an error; an apply has done its work all the same.
// A reader that closed the pipe has read what it needs, and gets no message.
func delivered(w *process.Output, e Env, code int) int {
	err := w.Err()
	if errors.Is(err, process.ErrClosed) && !printsOnly(e.line) {
		return code
	}
	if err == nil || e.run.json { // the end of the events has reported it
		return code
	}
	if slices.Contains([]string{"apply", "destroy"}, e.line.Command()) {
		if !errors.Is(err, syscall.EPIPE) {
			e.run.diagnostics(e, diag.Warningf("Not all of the result was delivered", "Writing to stdout failed: %s. What was done is "+
				"in the state file, and the exit code shows the outcome.", err))
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
