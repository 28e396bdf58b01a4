//go:build mutants

package server

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// Each rule is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		where, test, other := strings.Cut(m.Seen, " ")
		if !other {
			where, test = "internal/server", m.Seen
		}
		tests := mutation.Tests{Package: where, Run: "^" + test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: test}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
