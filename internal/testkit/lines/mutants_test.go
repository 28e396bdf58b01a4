//go:build mutants

package lines

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen puts faults into the tool, one after the other, and wants the
// histories to see each.
func TestMutants_AreSeen(t *testing.T) {
	tests := mutation.Tests{Package: "internal/testkit/lines", Run: "^TestHistories_KeepBothProtocols$", Sign: "seed "}
	for _, m := range mutation.Read(t) {
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
