//go:build !linux

package proc

import (
	"errors"
	"syscall"
)

// Of returns the status of a process, without its name and its start: another process that has its id by now is taken for it.
func Of(pid int) Status {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return Status{}
	}
	return Status{Letter: 'R'}
}
