//go:build linux && amd64 && mutants

package crash_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen puts faults into the tool, one after the other, and
// wants the tests to see each. The list has the directory of the test and its name.
func TestMutants_AreSeen(t *testing.T) {
	for _, m := range mutation.Read(t) {
		where, test, _ := strings.Cut(m.Seen, " ")
		tests := mutation.Tests{Package: where, Run: "^" + strings.ReplaceAll(test, "/", "$/^") + "$", Sign: "_test.go:"}
		t.Run(m.Name, func(t *testing.T) { tests.See(t, m) })
	}
}
