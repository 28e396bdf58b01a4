//go:build mutants

package brought

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each check, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "machine/internal/brought", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "120s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
