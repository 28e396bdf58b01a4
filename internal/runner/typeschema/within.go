package typeschema

import (
	"time"

	"deployster/internal/base/parallel"
)

// checkTime is what a schema may take to check one document. An honest one
// needs milliseconds.
const checkTime = 5 * time.Second

// runWithin returns what f gives, unless that takes too long. f cannot be ended
// from outside: it then goes on in its goroutine until it is through or the
// process ends, and what it gives is dropped. That is accepted, because only
// a hostile or badly broken schema comes to it, and the command then fails.
func runWithin[T any](goroutines *parallel.Pool, limit time.Duration, f func() T) (result T, inTime bool) {
	var got T
	if !goroutines.RunOrAbandon(func() { got = f() }, limit, func() bool { return false }) {
		return result, false
	}
	return got, true
}
