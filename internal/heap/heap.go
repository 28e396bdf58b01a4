// Package heap says how often a command's garbage collector runs.
//
// It imports almost nothing, and so is made ready before the libraries, half of
// whose time to get ready the collector took when it began at 4 MiB.
package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// firstCollection is how much may be made before the garbage collector runs
	// for the first time, in bytes. Most commands are over by then.
	firstCollection = 64 << 20
	// smallHeap is how large the heap may grow, in bytes, before what is live in it
	// matters: to look through little again and again is what a collector costs.
	smallHeap = 112 << 20
	// growth is what may come to a larger heap before it is looked through again,
	// in percent of what is live.
	growth = 60
	// largeHeap is from where on a heap may grow faster, in bytes that are live: three
	// times what is beyond it is added to its growth, at most as much as that is, and
	// no more than a part of what the machine has left. A plan of 10,000 stays below.
	largeHeap = 128 << 20
	// partOfRoom is which part of what is left that is.
	partOfRoom = 4
)

// Until the program has said which pace it wants there is none to keep.
func init() {
	if !told() {
		debug.SetGCPercent(-1)
	}
}

// told says whether the environment says when to collect.
func told() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// Usual has the collector run as in any program: for one that stays.
func Usual() {
	if !told() {
		debug.SetGCPercent(100)
	}
}

// Postpone keeps the garbage collector from running again and again while the
// heap is small, as it does from 4 MiB on. What the environment says of it is
// left alone. Spare is how many bytes may come to what is live in any case: 0 for
// what is to be small, more for what has much to do.
func Postpone(spare uint64) {
	if told() {
		return
	}
	debug.SetMemoryLimit(firstCollection)
	afterCollection(spare, func() { debug.SetMemoryLimit(math.MaxInt64) })
}

// afterCollection sets the pace anew after each collection, and does first
// before that.
func afterCollection(spare uint64, first func()) {
	// A thing that nothing refers to is finalized after a collection.
	runtime.SetFinalizer(&struct{ b [16]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		now, left := live[0].Value.Uint64(), uint64(0)
		if now > largeHeap {
			left = room(machine)
		}
		debug.SetGCPercent(pace(now, spare, left))
		first()
		afterCollection(spare, func() {})
	})
}

// pace is how much may be made until the next collection, in percent of what is
// live. A heap that grows to a gibibyte would be looked through twenty times on
// the way, and each time there is more to look at: so a large one may grow
// faster, where there is room.
func pace(live, spare, room uint64) int {
	if live == 0 {
		return growth
	}
	usual := live * growth / 100
	next := max(live+usual, live+spare, smallHeap)
	if live > largeHeap {
		next = max(next, live+usual+min(3*(live-largeHeap), usual, room/partOfRoom))
	}
	return int((next - live) * 100 / live)
}
