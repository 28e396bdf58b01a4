package typeschema

import (
	"time"

	"deployster/internal/base/parallel"
	"deployster/internal/base/proc"
)

// The limits for the check of one document: checkTime of this process's processor time, and
// maxWait of real time. An ordinary check needs milliseconds. On a machine that is busy
// otherwise it takes longer, which is not the image's fault.
const (
	checkTime = 5 * time.Second
	maxWait   = 10 * time.Minute
)

// runWithin returns the result of f, unless f takes too long. f cannot be stopped from
// outside: it then continues in its goroutine until it is complete or the process ends,
// and its result is dropped. This is acceptable, because only a hostile or badly broken
// schema takes so long, and the command fails then.
func runWithin[T any](goroutines *parallel.Pool, limit time.Duration, f func() T) (result T, inTime bool) {
	var got T
	var start time.Time
	var before time.Duration // processor time at the first call of wait; most calls of f are complete by then
	wait := func() bool {
		if start.IsZero() {
			start, before = time.Now(), proc.ProcessorTime()
			return true
		}
		return proc.ProcessorTime()-before < limit && time.Since(start) < maxWait
	}
	if !goroutines.RunOrAbandon(func() { got = f() }, limit/20, wait) {
		return result, false
	}
	return got, true
}
