//go:build mutants

package match_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out the rules, one after the other, and wants the tests
// to see each. Those of the engine are of its model here.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "plan/match", Run: "^Test", Env: []string{"DEPLOYSTER_HISTORIES=16000"}, Sign: "_test.go:"}
	for _, m := range mutation.Read(t) {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
