//go:build mutants

package rounds_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What keeps a round from doing what nobody has seen is taken out, piece by piece, and its test must
// fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		where, test, _ := strings.Cut(m.Seen, " ")
		tests := mutation.Tests{Package: where, Run: "^" + test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: test}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
