package e2e

import (
	"os"
	"testing"
)

// mostBytes is how large the program may be, stripped: it is brought to every host.
const mostBytes = 48 << 20

// The program that `make build` has made stays small.
func TestProgram_IsSmall(t *testing.T) {
	info, err := os.Stat("bin/deployster")
	if err != nil {
		t.Fatalf("%v: `make build` makes it", err)
	}
	if info.Size() > mostBytes {
		t.Errorf("bin/deployster has %d bytes, and %d is the limit: what only some need belongs into a program beside it", info.Size(), mostBytes)
	}
}
