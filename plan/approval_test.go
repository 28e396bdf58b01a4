package plan

import (
	"testing"

	"deployster/plan/change"
	"deployster/protocol"
)

// An update that destroys what exists is counted and approved as a replacement, and none
// that leaves it is.
func TestSummarize_AnUpdateThatDestroys(t *testing.T) {
	remove := protocol.Action{Name: "delete", Destructive: true}
	steps := map[string]*Step{
		"kept":  {Part: &change.Update{Answer: change.Answer{Actions: []protocol.Action{{Name: "update"}}}}},
		"anew":  {Part: &change.Update{Answer: change.Answer{Actions: []protocol.Action{remove, {Name: "create"}}}}},
		"first": {Part: &change.Update{Answer: change.Answer{Shutdown: &remove, Actions: []protocol.Action{{Name: "create"}}}}},
		"later": {Part: &change.Deferred{Answer: change.Answer{Shutdown: &remove, Actions: []protocol.Action{{Name: "create"}}},
			Expected: Replace}},
	}
	if got, want := summarize(&Plan{Resources: steps}), (Summary{Update: 1, Replace: 2, Deferred: 1, Expected: Expected{Replace: 1}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if kinds := (&Plan{Resources: steps}).Kinds(); len(kinds[Update]) != 1 || len(kinds[Replace]) != 3 {
		t.Errorf("%v", kinds)
	}
}
