package repair

import (
	"maps"
	"testing"
	"time"

	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// What may still run on another machine is found at the address that a plan gives it, also
// when two change places, and a run of the plan that died has made them do so.
func TestOnHold_OfWhatThePlanMoves(t *testing.T) {
	t.Parallel()
	running := actions.Unsettled{Held: true, By: actions.By{Machine: "a"}, Actions: []actions.Attempt{{Action: "make", Key: "k", Started: time.Now()}}}
	for name, c := range map[string]struct {
		moves []moves.Move
		died  bool
		want  map[string]string
	}{
		"it stays":            {nil, false, map[string]string{"x": "x"}},
		"it moves":            {[]moves.Move{{From: "x", To: "y"}}, false, map[string]string{"y": "x"}},
		"two change places":   {[]moves.Move{{From: "x", To: "y"}, {From: "y", To: "x"}}, false, map[string]string{"y": "x"}},
		"they have done so":   {[]moves.Move{{From: "x", To: "y"}, {From: "y", To: "x"}}, true, map[string]string{"x": "x"}},
		"it is not planned":   {[]moves.Move{{From: "x", To: "z"}}, false, map[string]string{}},
		"it is another's new": {[]moves.Move{{From: "z", To: "y"}}, false, map[string]string{"x": "x"}},
	} {
		prior := state.Snapshot{Unsettled: map[string]actions.Unsettled{"x": running}}
		if c.died {
			prior.Applied = []state.Applied{{Plan: "p", Status: state.StatusDied, Moved: true}}
		}
		p := &plan.Plan{ID: "p", Moves: c.moves, Resources: map[string]*plan.Step{"x": {}, "y": {}}}
		if got := OnHold(p, prior, &state.Remote{Machine: "b"}); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
