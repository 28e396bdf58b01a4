//go:build mutants

package lending

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What keeps a thing with one borrower is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "containerd/lending", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "20s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
