package typeschema

import (
	"time"

	"deployster/internal/base/parallel"
	"deployster/internal/base/proc"
)

// How long a schema may take to check one document: of the processor's time of this process,
// and whatever it waits for. An honest one needs milliseconds. A machine that is busy with
// other things makes it slow, and that is no fault of the image.
const (
	checkTime = 5 * time.Second
	maxWait   = 10 * time.Minute
)

// runWithin returns what f gives, unless that takes too long. f cannot be ended
// from outside: it then goes on in its goroutine until it is through or the
// process ends, and what it gives is dropped. That is accepted, because only
// a hostile or badly broken schema comes to it, and the command then fails.
func runWithin[T any](goroutines *parallel.Pool, limit time.Duration, f func() T) (result T, inTime bool) {
	var got T
	var start time.Time
	var before time.Duration // the processor's, when it was asked first: most are through by then
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
