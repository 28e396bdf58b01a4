//go:build mutants

package place

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// Each rule is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/place", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "120s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
