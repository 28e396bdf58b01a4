//go:build mutants

package ssh

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each part, and wants a test to fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/runtime/remote/ssh", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "60s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
