package typeclient

import (
	"testing"

	"go.uber.org/goleak"
)

// No conversation leaves anything running, but goroutines that wait for work
// until they are collected.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("deployster/internal/base/parallel.serve"))
}
