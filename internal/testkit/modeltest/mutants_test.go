//go:build mutants

package modeltest_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen puts faults into the engine, one after the other, and
// wants the scenarios to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/testkit/modeltest", Run: "^Test", Flags: []string{"-test.skip", "Containers"},
		Env: []string{briefVariable + "=1"}, Sign: "step "}
	for _, m := range mutation.Read(t) {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
