package typeclient

import (
	"testing"

	"go.uber.org/goleak"
)

// No conversation leaves anything running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
