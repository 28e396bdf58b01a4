package e2e

import (
	"os"
	"testing"
)

// mostBytes is how large each program may be, stripped: deployster-host is brought to every host, and
// deployster-pod into every Pod.
var mostBytes = map[string]int64{"deployster": 54 << 20, "deployster-host": 28 << 20, "deployster-pod": 9 << 19}

// The programs that `make build` has made stay small.
func TestProgram_IsSmall(t *testing.T) {
	for name, most := range mostBytes {
		info, err := os.Stat("bin/" + name)
		if err != nil {
			t.Fatalf("%v: `make build` makes it", err)
		}
		if info.Size() > most {
			t.Errorf("bin/%s has %d bytes, and %d is the limit: what only some need belongs into a program beside it", name, info.Size(), most)
		}
	}
}
