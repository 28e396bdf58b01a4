package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is how much may be made before the garbage collector runs for
// the first time, in bytes. Most commands are over by then.
const firstCollection = 64 << 20

// postponeCollection keeps the garbage collector from running again and again
// while the heap is still small, as it does from 4 MiB on. From the first time
// on it goes by Go's own rules. What the environment says of it is left alone.
func postponeCollection() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	// A thing that nothing refers to is finalized after the first collection.
	runtime.SetFinalizer(&struct{ b [16]byte }{}, func(any) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
