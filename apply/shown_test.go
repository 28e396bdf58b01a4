package apply

import (
	"encoding/json"
	"testing"

	"deployster/apply/compare"
	"deployster/apply/fresh"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

// action is one that has all there is to compare.
func action() protocol.Action {
	return protocol.Action{Name: "make", Description: "Make it", Command: protocol.Command{Image: "tools:1", Entrypoint: "/bin/make", Args: []string{"a", "b"}}}
}

// What runs is what was shown: only the description may be another.
func TestSameActions_OnlyTheDescriptionMayDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*protocol.Action)
		same   bool
	}{
		"nothing":          {func(*protocol.Action) {}, true},
		"its description":  {func(a *protocol.Action) { a.Description = "Make it at 12:01" }, true},
		"what it destroys": {func(a *protocol.Action) { a.Destructive = true }, false},
		"its name":         {func(a *protocol.Action) { a.Name = "wipe" }, false},
		"its image":        {func(a *protocol.Action) { a.Image = "tools:2" }, false},
		"its entrypoint":   {func(a *protocol.Action) { a.Entrypoint = "/bin/wipe" }, false},
		"its arguments":    {func(a *protocol.Action) { a.Args = []string{"a"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := action()
			c.change(&changed)
			if got := compare.SameActions([]protocol.Action{action()}, []protocol.Action{changed}); got != c.same {
				t.Errorf("same: %v, want %v", got, c.same)
			}
		})
	}
	if compare.SameActions([]protocol.Action{action()}, []protocol.Action{action(), action()}) {
		t.Error("one action more is taken for the same")
	}
}

// What was approved covers what it showed, and less of what runs first.
func TestApproval_Covers(t *testing.T) {
	t.Parallel()
	stop, halt, hard, wipe := action(), action(), action(), action()
	stop.Name, halt.Name, hard.Name, wipe.Name = "stop", "halt", "stop", "stop"
	hard.Args, wipe.Destructive = []string{"-9"}, true
	shown := compare.Approved{Actions: []protocol.Action{action()}, Shutdown: &stop}
	for name, c := range map[string]struct {
		approved compare.Approved
		found    protocol.Answer
		want     bool
	}{
		"what was shown":                   {shown, protocol.Answer{Actions: shown.Actions, ShutdownFirst: &stop}, true},
		"nothing is to be stopped":         {shown, protocol.Answer{Actions: shown.Actions}, true},
		"another action stops it":          {shown, protocol.Answer{Actions: shown.Actions, ShutdownFirst: &halt}, false},
		"it destroys what exists":          {shown, protocol.Answer{Actions: shown.Actions, ShutdownFirst: &wipe}, false},
		"another command stops it":         {shown, protocol.Answer{Actions: shown.Actions, ShutdownFirst: &hard}, false},
		"a stop that was not shown":        {compare.Approved{Actions: shown.Actions}, protocol.Answer{Actions: shown.Actions, ShutdownFirst: &stop}, false},
		"other actions":                    {shown, protocol.Answer{Actions: []protocol.Action{stop}}, false},
		"nothing, where nothing was shown": {compare.Approved{}, protocol.Answer{}, false},
		"a removal destroys less":          {compare.Approved{Actions: []protocol.Action{wipe}, Removal: true}, protocol.Answer{Actions: []protocol.Action{stop}}, true},
		"a removal destroys more":          {compare.Approved{Actions: []protocol.Action{stop}, Removal: true}, protocol.Answer{Actions: []protocol.Action{wipe}}, false},
		"a change destroys less":           {compare.Approved{Actions: []protocol.Action{wipe}}, protocol.Answer{Actions: []protocol.Action{stop}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.approved.Covers(c.found); got != c.want {
				t.Errorf("covers: %v, want %v", got, c.want)
			}
		})
	}
}

// An entry is as the plan knows it if nobody but a run of this plan has changed it.
func TestPinned_AnEntryMatchesUnlessAnotherRunChangedIt(t *testing.T) {
	t.Parallel()
	valid := func(v string) state.Entry {
		return state.Entry{Type: "thing:1", Config: json.RawMessage(`{"v":` + v + `}`), State: json.RawMessage(`{}`)}
	}
	dirty, begun := valid("1"), state.Entry{Type: "thing:1", Config: json.RawMessage(`{"v":1}`), Dirty: true}
	dirty.Dirty = true
	changed := valid("2")
	changed.Dirty = true
	holds := func(e state.Entry) state.Snapshot { return state.Snapshot{Resources: map[string]state.Entry{"a": e}} }
	started := func(plan string) state.Snapshot {
		s := holds(begun)
		s.Unsettled = map[string]actions.Unsettled{"a": {Plan: plan}}
		return s
	}
	pin, died := valid("1").Pin(), state.Applied{Plan: "p"}
	anew, again := valid("1"), dirty
	anew.Acted, again.Acted = 7, 7
	for name, c := range map[string]struct {
		recorded state.Snapshot
		pin      string
		died     state.Applied
		want     bool
	}{
		"as it was":                          {holds(valid("1")), pin, state.Applied{}, true},
		"recorded anew":                      {holds(valid("2")), pin, state.Applied{}, false},
		"recorded by the run that died":      {holds(valid("2")), pin, state.Applied{Plan: "p", Done: map[string]string{"a": valid("2").Pin()}}, true},
		"recorded by another since":          {holds(valid("2")), pin, state.Applied{Plan: "p", Done: map[string]string{"a": pin + "x"}}, false},
		"made anew, and equal":               {holds(anew), pin, state.Applied{}, false},
		"done, and made anew since":          {holds(anew), pin, state.Applied{Plan: "p", Done: map[string]string{"a": pin + "x"}}, false},
		"started before, and again by it":    {holds(again), dirty.Pin(), died, true},
		"started before, and by another":     {holds(again), dirty.Pin(), state.Applied{}, false},
		"started by the run that died":       {holds(dirty), pin, died, true},
		"changed, and started":               {holds(changed), pin, died, false},
		"begun by the run that died":         {started("p"), "", died, true},
		"begun by another":                   {started("q"), "", died, false},
		"started, and no run of it has died": {holds(dirty), pin, state.Applied{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fresh.Pinned(c.recorded, "a", c.pin, c.died); got != c.want {
				t.Errorf("pinned: %v, want %v", got, c.want)
			}
		})
	}
}

// What a run that died has left of the actions is gone on with: by the same plan, and
// where just the end of what was shown is left.
func TestResumes_OnlyTheSamePlanOrTheEndOfTheActions(t *testing.T) {
	t.Parallel()
	lay, raise, clear := protocol.Action{Name: "lay"}, protocol.Action{Name: "raise"}, protocol.Action{Name: "clear"}
	step := &plan.Step{Part: &change.Update{Answer: change.Answer{Actions: []protocol.Action{lay, raise}}}}
	for name, c := range map[string]struct {
		by   string
		left []protocol.Action
		want bool
	}{
		"the rest":              {"p", []protocol.Action{raise}, true},
		"the rest, not started": {"", []protocol.Action{raise}, false},
		"another plan's rest":   {"q", []protocol.Action{raise}, false},
		"all of it":             {"p", step.Answer().Actions, false},
		"the beginning":         {"p", []protocol.Action{lay}, false},
		"something else":        {"p", []protocol.Action{clear}, false},
		"more than there was":   {"p", []protocol.Action{clear, lay, raise}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &stepRunner{plan: &plan.Plan{ID: "p"}}
			if c.by != "" {
				r.prior.Unsettled = map[string]actions.Unsettled{"a": {Plan: c.by}}
			}
			if got := r.resumes(step, "a", protocol.Answer{Actions: c.left}); got != c.want {
				t.Errorf("resumes: %v, want %v", got, c.want)
			}
		})
	}
}
