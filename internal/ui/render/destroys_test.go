package render

import (
	"strings"
	"testing"

	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
)

// An update that destroys what exists is called a replacement before and after it is done.
func TestMark_AnUpdateThatDestroys(t *testing.T) {
	step := &plan.Step{Part: &change.Update{Answer: change.Answer{Actions: []protocol.Action{{Name: "delete", Destructive: true},
		{Name: "create"}}}}}
	symbol, words := mark(step)
	if got := paint.Colors(symbol, false) + " " + words; got != "-/+ will be replaced" {
		t.Errorf("%q", got)
	}
	p := &plan.Plan{Resources: map[string]*plan.Step{"a": step}, Summary: plan.Summary{Replace: 1}}
	if got := Counts(p); !strings.HasPrefix(got, "0 to create, 0 to update, 1 to replace") {
		t.Errorf("%q", got)
	}
	if got := Past(step.Shown()); got != "replaced" {
		t.Errorf("%q", got)
	}
}
