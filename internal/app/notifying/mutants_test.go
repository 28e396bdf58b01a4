//go:build mutants

package notifying_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/app/notifying", Run: "^TestOutbox", Flags: []string{"-test.timeout", "1m"}, Sign: "_test.go:"}
		if where, test, other := strings.Cut(m.Seen, " "); other {
			tests.Package, tests.Run = where, "^"+test+"$"
		}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
