package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"

	"deployster/internal/base/diag"
)

// errClosed is what a stdout gives that seems to have been closed when the
// program began. That cannot be known for sure, so it counts only where a run
// without output would be of no use to anybody.
var errClosed = errors.New("it is closed")

// tellsOnly reports whether what a command prints is all that it is for: the exit
// codes of others tell something too.
func tellsOnly(e Env) bool {
	command, flags := glance(newApp(e), e.Args)
	switch command {
	case "show", "output", "graph", "version":
		return true
	case "state", "runs", "image", "type":
		return slices.Contains([]string{"list", "ls", "show", "pull", "copies", "logs", "inspect"}, wordAfter(command, e.Args))
	case "resolve":
		return flags["as"] == ""
	case "plan":
		return flags["out"] == "" && flags["json-into"] == "" && flags["detailed-exitcode"] == ""
	}
	return false
}

// wordAfter gives the command within a command: what comes next and is no flag.
func wordAfter(command string, args []string) string {
	for _, word := range args[slices.Index(args, command)+1:] {
		if !strings.HasPrefix(word, "-") {
			return word
		}
	}
	return ""
}

// delivery is stdout, and remembers whether all that was printed there got
// there. What is printed goes on all the same: that nobody reads must not stop
// an apply.
type delivery struct {
	mu  sync.Mutex
	w   io.Writer
	err error // the first
}

func (d *delivery) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.err == nil {
			d.err = err
		}
	}
	return n, err
}

// conclude gives the exit code that tells the truth. Where to print was all that
// there was to do, a result that was not delivered is an error; an apply has done
// what it has done. A reader who went away has what was wanted, and needs no
// message.
func (d *delivery) conclude(e Env, command string, code int) int {
	d.mu.Lock()
	err := d.err
	d.mu.Unlock()
	if errors.Is(err, errClosed) && !tellsOnly(e) {
		return code
	}
	if err == nil || e.account.json { // of the events it was said already
		return code
	}
	if slices.Contains([]string{"apply", "destroy"}, command) {
		if !errors.Is(err, syscall.EPIPE) {
			e.stderr(e.Stderr).Diagnostic(diag.Warningf("Not all of the result was delivered", "Writing to stdout failed: %s. What was done is in the state file, and the exit code says how it ended.", err))
		}
		return code
	}
	if !errors.Is(err, syscall.EPIPE) {
		e.stderr(e.Stderr).Diagnostic(diag.Errorf("The result was not delivered", "Writing to stdout failed: %s.", err))
	}
	if code == exitInterrupted {
		return code
	}
	return exitError
}
