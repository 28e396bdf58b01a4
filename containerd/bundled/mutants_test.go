//go:build mutants

package bundled

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What keeps answers to init with their image is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "containerd/bundled", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "60s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
