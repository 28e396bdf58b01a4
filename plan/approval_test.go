package plan

import (
	"testing"

	"deployster/protocol"
)

// An update that destroys what exists is counted and approved as a replacement, and none
// that leaves it is.
func TestSummarize_AnUpdateThatDestroys(t *testing.T) {
	remove := protocol.Action{Name: "delete", Destructive: true}
	steps := map[string]*Step{
		"kept":  {Change: Update, Actions: []protocol.Action{{Name: "update"}}},
		"anew":  {Change: Update, Actions: []protocol.Action{remove, {Name: "create"}}},
		"first": {Change: Update, Shutdown: &remove, Actions: []protocol.Action{{Name: "create"}}},
		"later": {Change: Deferred, Expected: Replace, Shutdown: &remove, Actions: []protocol.Action{{Name: "create"}}},
	}
	if got, want := summarize(steps), (Summary{Update: 1, Replace: 2, Deferred: 1, Expected: Expected{Replace: 1}}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if kinds := (&Plan{Resources: steps}).Kinds(); len(kinds[Update]) != 1 || len(kinds[Replace]) != 3 {
		t.Errorf("%v", kinds)
	}
}
