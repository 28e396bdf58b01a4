//go:build mutants

package redact_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What hides secrets is taken out, one part at a time: a test beside it, or a canary, which searches
// all that is printed, recorded and stored, must see it.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		where, test, _ := strings.Cut(m.Seen, " ")
		tests := mutation.Tests{Package: where, Run: "^" + strings.ReplaceAll(test, "/", "$/^") + "$", Flags: []string{"-test.timeout", "600s"}, Sign: test}
		if strings.Contains(test, "/") {
			tests.Sign = " shows a secret: "
		}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
