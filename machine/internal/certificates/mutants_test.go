//go:build mutants

package certificates

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What the kinds check is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "machine/internal/certificates", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "120s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
