//go:build mutants

package exports

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each rule of published outputs, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		dir, test, _ := strings.Cut(m.Seen, " ")
		tests := mutation.Tests{Package: dir, Run: "^" + test + "$", Flags: []string{"-test.timeout", "120s"}, Sign: test}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
