package proc

import (
	"syscall"
	"time"
)

// ProcessorTime is how much of the processors' time this process has had. A
// bound on work is one on this: the clock also counts what others do meanwhile.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil { // it has no reason to fail
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
