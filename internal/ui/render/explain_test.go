package render

import (
	"strings"
	"testing"

	"deployster/plan"
	"deployster/plan/explain"
	"deployster/protocol"
)

func TestWriteReasons_CountsTheOthers(t *testing.T) {
	t.Parallel()
	for more, want := range map[int]string{1: "and 1 more reason\n", 2: "and 2 more reasons\n"} {
		var b strings.Builder
		writeReasons(&b, &explain.Explanation{Step: &plan.Step{Reasons: make([]protocol.Reason, maxExplained+more)}}, Options{})
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%d more: %q", more, b.String())
		}
	}
}
