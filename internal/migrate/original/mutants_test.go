//go:build mutants

package original

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out what keeps a meaning, one after the other, and wants the tests to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/migrate/original", Run: "^Test", Sign: "_test.go:"}
	for _, m := range mutation.Read(t) {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
