package proc

import (
	"syscall"
	"time"
)

// ProcessorTime returns how much processor time this process has used. Bounds on work are
// bounds on this time: wall-clock time also counts the work of other processes.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil { // it has no reason to fail
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
