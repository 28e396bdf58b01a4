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
	"sync"
)

const (
	// firstCollection is how much may be made before the garbage collector runs
	// for the first time, in bytes. Most commands are over by then.
	firstCollection = 52 << 20
	// smallHeap is how large the heap may grow, in bytes, before what is live in it
	// matters: to look through little again and again is what a collector costs.
	smallHeap = 112 << 20
	// growth is what may come to a larger heap before it is looked through again,
	// in percent of what is live.
	growth = 60
	// thrift is the same for a heap that is not large: that of a plan of 10,000,
	// which is to get by with little memory.
	thrift = 35
	// largeHeap is from where on a heap may grow faster, in bytes that are live: twice
	// what is beyond it is added to its growth, at most largeSpare bytes, and no more
	// than a part of what the machine has left. A plan of 10,000 stays below.
	largeHeap  = 128 << 20
	largeSpare = 512 << 20
	// partOfRoom is which part that is of what is left when the heap has doubled. A
	// large process that comes to within the same part of the end collects at once.
	partOfRoom = 4
	// perInput is how much the heap may have, in bytes, for each byte of manifests
	// that are about to be read, beyond smallInput bytes of them and up to mostInput
	// in all: most of what it takes to read them is not needed afterwards.
	perInput   = 128
	smallInput = 1 << 20
	mostInput  = 1 << 30
)

// Until the program has said which pace it wants there is none to keep.
func init() {
	if !told() {
		debug.SetGCPercent(-1)
	}
}

// told reports whether the environment says when to collect.
func told() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// Usual has the collector run as in any program: for one that stays.
func Usual() {
	if !told() {
		debug.SetGCPercent(100)
	}
}

// Pace is the pace of this process's collector, while the program keeps it. A nil
// Pace keeps none.
type Pace struct {
	spare uint64

	mu      sync.Mutex
	floor   uint64 // until where the heap may grow whatever is live; see Expect
	live    uint64 // when it was looked through last
	counted bool   // it was looked through
}

// Postpone keeps the garbage collector from running again and again while the
// heap is small, as it does from 4 MiB on. What the environment says of it is
// left alone. Spare is how many bytes may come to what is live in any case: 0 for
// what is to be small, more for what has much to do.
func Postpone(spare uint64) *Pace {
	if told() {
		return nil
	}
	p := &Pace{spare: spare}
	begin(firstCollection)
	p.afterCollection()
	return p
}

// Expect says how many bytes of manifests are about to be read.
func (p *Pace) Expect(input int) {
	if p == nil || input < worthHuge {
		return
	}
	inHugePages()
	if input <= smallInput {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.floor = min(uint64(input-smallInput)*perInput, mostInput)
	left, _ := room(machine)
	if p.counted {
		debug.SetGCPercent(pace(p.live, p.spare, p.floor, left))
	} else {
		begin(max(firstCollection, min(p.floor, left/partOfRoom)))
	}
}

// begin sets how large the heap may become before it is looked through for the
// first time: as many hundredths of 4 MiB as the runtime is told. A limit of memory
// would count what the heap has mapped and not yet used, and have that given back.
func begin(size uint64) { debug.SetGCPercent(int(size / (4 << 20) * 100)) }

// afterCollection sets the pace anew after each collection.
func (p *Pace) afterCollection() {
	// A thing that nothing refers to is finalized after a collection.
	runtime.SetFinalizer(&struct{ b [16]byte }{}, func(any) {
		m := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(m)
		p.set(m[0].Value.Uint64(), m[1].Value.Uint64()-m[2].Value.Uint64())
		p.afterCollection()
	})
}

// set is told what is live, and what this process has in all.
func (p *Pace) set(live, has uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live, p.counted = live, true
	if live <= largeHeap && p.floor == 0 {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(pace(live, p.spare, 0, 0))
		return
	}
	left, known := room(machine)
	debug.SetGCPercent(pace(live, p.spare, p.floor, left))
	debug.SetMemoryLimit(limit(has, left, known))
}

// limit is what a large process may have before it collects whatever the pace
// says: to look through its heap more often is better than to be killed.
func limit(has, left uint64, known bool) int64 {
	if !known {
		return math.MaxInt64
	}
	return int64(min(has+left/partOfRoom*(partOfRoom-1), math.MaxInt64))
}

// pace is how much may be made until the next collection, in percent of what is
// live. A heap that grows to a gibibyte would be looked through twenty times on
// the way, and each time there is more to look at: so a large one may grow
// faster, where there is room.
func pace(live, spare, floor, room uint64) int {
	if live == 0 {
		return growth
	}
	usual, part := live*growth/100, (max(room, live)-live)/partOfRoom // nothing, when the heap could not double
	if live <= largeHeap {
		usual = live * thrift / 100
	}
	next := max(live+usual, live+spare, smallHeap)
	if live > largeHeap {
		next = max(next, live+usual+min(2*(live-largeHeap), largeSpare, part))
	}
	if floor > live {
		next = max(next, live+min(floor-live, part))
	}
	return int((next - live) * 100 / live)
}
