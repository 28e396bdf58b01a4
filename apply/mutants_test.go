//go:build mutants

package apply_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each check, and wants its test to fail. What an apply
// refuses for any other reason, its runner or its state has refused.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "apply", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "60s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
