//go:build mutants

package artifacts

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each rule of versions that have to pass, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		dir, test, elsewhere := strings.Cut(m.Seen, " ")
		if !elsewhere {
			dir, test = "plan/artifacts", m.Seen
		}
		tests := mutation.Tests{Package: dir, Run: "^" + test + "$", Flags: []string{"-test.timeout", "60s"}, Sign: test}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
