//go:build mutants

package containerd

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// What makes each action happen once is taken out, and its test must fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "containerd", Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "300s"}, Sign: m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
