package repair

import (
	"encoding/json"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
	"deployster/state"
)

// A step that brings back what is recorded does so too when the host has another name,
// or is reached in another way, as long as it is the same machine.
func TestOnly_OnHosts(t *testing.T) {
	t.Parallel()
	none := json.RawMessage("{}")
	on := func(name, machine string) *runner.Host {
		return &runner.Host{Name: name, Address: name + ".example", Machine: machine}
	}
	for name, c := range map[string]struct {
		now, recorded *runner.Host
		want          bool
	}{
		"as recorded":               {on("a", "m1"), on("a", "m1"), true},
		"another name":              {on("b", "m1"), on("a", "m1"), true},
		"no machine is recorded":    {on("a", "m1"), on("a", ""), true},
		"and another name":          {on("b", "m1"), on("a", ""), false},
		"another machine":           {on("a", "m2"), on("a", "m1"), false},
		"it was here":               {on("a", "m1"), nil, false},
		"it is here, and was there": {nil, on("a", "m1"), false},
		"here":                      {nil, nil, true},
	} {
		s := &plan.Step{Config: none, Settings: runner.Settings{Host: c.now}, Part: &change.Update{}}
		e := state.Entry{Config: none, State: none, Settings: runner.Settings{Host: c.recorded}}
		if got := Only(s, protocol.StateInput{Config: none}, e); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
