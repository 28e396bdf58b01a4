package collector

import (
	"os"
	"runtime/debug"
)

// percent lets the heap grow to five times what is live: most commands end before
// collecting pays. Package workspace spares memory in large ones.
const percent = 400

func init() { set(percent) }

// Usual is for what goes on for long: the heap grows to the double of what is live.
func Usual() { set(100) }

// set leaves to the user what he sets.
func set(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
