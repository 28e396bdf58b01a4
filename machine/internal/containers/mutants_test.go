//go:build machines

package containers

import (
	"testing"

	"deployster/internal/testkit/machines"
)

// TestMutants_AreSeen takes out each check, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) { machines.SeeMutants(t, "machine/internal/containers") }
