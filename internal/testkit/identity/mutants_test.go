//go:build mutants

package identity_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen puts the faults into the engine, one after the other, and wants the
// family of histories that the list names to see each.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/testkit/identity", Run: "^TestEngine_RandomHistories$", Sign: "_test.go:",
			Env: []string{"DEPLOYSTER_ENGINE_HISTORIES=2000", "DEPLOYSTER_ENGINE_HISTORIES_OF=" + m.Seen}}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
