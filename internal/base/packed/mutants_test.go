//go:build mutants

package packed

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What keeps damaged programs from being used on a host is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/base/packed", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "60s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
