package agent

import (
	"bytes"
	"strconv"
	"strings"
	"syscall"
)

// The record of an action is a file of lines, which the agent writes itself: a line exists before the
// program does what follows it, whatever happens to others.
const (
	Begun    = "begun\n"     // the program is about to be started
	NotBegun = "not begun\n" // it could not be started
	exited   = "exit "       // it has ended, with everything that it has started; its exit code
)

// Exited is the last line of a record, with the exit code as shells report it.
func Exited(status syscall.WaitStatus) string {
	return exited + strconv.Itoa(ExitCode(status)) + "\n"
}

// ExitCode returns the exit code of a program as shells report it.
func ExitCode(status syscall.WaitStatus) int {
	const signalled = 128 // what shells and containerd add to a signal's number
	if status.Signaled() {
		return signalled + int(status.Signal())
	}
	return status.ExitStatus()
}

// Record is what an agent has recorded of an action.
type Record struct {
	Begun bool // its program may have begun
	Exit  *int // its exit code; nil = it has not ended, as far as is recorded
}

// ReadRecord reads a record. An incomplete last line counts as not written.
func ReadRecord(content []byte) (r Record) {
	for line := range bytes.Lines(content) {
		switch text := string(line); text {
		case Begun:
			r.Begun = true
		case NotBegun:
			r.Begun = false
		default:
			if code, ok := strings.CutPrefix(text, exited); ok && strings.HasSuffix(code, "\n") {
				if n, err := strconv.Atoi(strings.TrimSuffix(code, "\n")); err == nil {
					r.Exit = &n
				}
			}
		}
	}
	return r
}
