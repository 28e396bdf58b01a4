package collector

import (
	"os"
	"runtime/debug"
)

// percent lets the heap grow to five times the live heap: most commands end before a
// collection pays off. Spare reduces it for many resources.
const percent = 400

func init() { set(percent) }

// Usual sets Go's default for long-running commands: the heap grows to twice the live heap.
func Usual() { set(100) }

// set sets the percentage, unless the user has set GOGC.
func set(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
