package watch

import (
	"math/rand/v2"
	"time"
)

// never is the time of an event that does not come.
const never = time.Duration(1<<63 - 1)

// Intervals and limits.
const (
	gap      = time.Second      // between two queries by events, on average
	atOnce   = 3                // of them, after a quiet time
	noisyGap = 10 * time.Second // the same, when events have reported no change
	head     = 5 * time.Second  // a query by an event goes before polls that are due this much earlier

	askFirst, askMost         = 5 * time.Second, 10 * time.Minute // before a failed query is repeated
	startFirst, startMost     = time.Second, 5 * time.Minute      // before a process is started again
	refusedFirst, refusedMost = time.Second, time.Minute          // before a repair that could not start is tried again
	holdFirst, holdMost       = time.Second, 10 * time.Minute     // between the repairs of one resource

	quiet     = 10 * time.Minute       // without drift, after which earlier repairs do not count
	firstLine = time.Minute            // for a process to report that it watches
	collect   = 5 * time.Millisecond   // resources that drift within it are repaired together; later ones wait for the next repair
	between   = 250 * time.Millisecond // of two repairs: other commands can use the state
	batch     = 512

	turns     = 200 // in which the polls of an interval are done
	beat      = 10 * time.Second
	placeMost = 30 * time.Second // after that a query loses its place among those that start a container
	settles   = 10 * time.Second // without anything to do, until that is reported
	suspended = time.Minute      // a longer suspend is a reason to query everything
	spread    = 10 * time.Second
	day       = 24 * time.Hour

	slowFrom = time.Minute // a longer repair is slow, if others wait for it

	flappingFrom = 4
	missedFrom   = 3
	noisyFrom    = 20
)

// pause returns how long to wait after the n-th time: twice as long each time.
func pause(n int, first, most time.Duration) time.Duration {
	for ; n > 1 && first < most; n-- {
		first *= 2
	}
	return min(first, most)
}

// hold returns how long the next repair of a resource is held back after n of them.
func hold(n int) time.Duration {
	if n < 2 {
		return 0
	}
	return pause(n-1, holdFirst, holdMost)
}

// about returns a time up to a tenth shorter or longer than d, so that what starts
// together does not stay together.
func about(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// within returns a random time up to d.
func within(d time.Duration) time.Duration { return time.Duration(float64(d) * rand.Float64()) }
