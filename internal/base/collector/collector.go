package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much the heap of a command may grow beyond its live data: by most percent, since most commands end
// before a collection pays off, but by growth bytes at the most, since memory matters too; by least percent
// in any case, as otherwise collecting would take most of the time.
const (
	most   = 400
	growth = 32 << 20
	least  = 40
)

func init() {
	if set(most) {
		follow(most)
	}
}

// percentFor returns by how many percent the heap may grow, if that many bytes are live.
func percentFor(live uint64) int { return int(min(most, max(least, growth*100/max(live, 1)))) }

// follow adapts the percentage, which was set to this one, after each collection. It stops when somebody
// else has set another one.
func follow(percent int) {
	type cycle struct{ _ [2]*cycle } // the collector does not share the memory of one of this size among several values
	runtime.AddCleanup(&cycle{}, func(percent int) {
		if metric("/gc/gogc:percent") != uint64(percent) {
			return
		}
		next := percentFor(metric("/gc/heap/live:bytes"))
		if next != percent {
			debug.SetGCPercent(next)
		}
		follow(next)
	}, percent)
}

func metric(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Usual sets Go's default for long-running servers: the heap grows to twice the live heap.
func Usual() { set(100) }

// set sets the percentage, unless the user has set GOGC, and reports whether it did.
func set(percent int) bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(percent)
	return true
}

// Release returns unused memory to the operating system, in the background.
func Release() { go debug.FreeOSMemory() }
