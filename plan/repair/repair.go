package repair

import (
	"encoding/json"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// Kind is the approved kind of change that stands for steps which only restore what was recorded.
const Kind plan.Change = "drift"

// Only reports whether a step only restores what its entry says: the same thing, by
// the same image, run in the same way, with the same config. config is the step's
// config evaluated with the present states.
func Only(s *plan.Step, config json.RawMessage, e state.Entry) bool {
	return Possible(s, e) && equal(state.Entry{Config: config}, state.Entry{Config: e.Config})
}

// Possible reports whether Only may turn out to be true of a step whose config is not
// known yet, or may change.
func Possible(s *plan.Step, e state.Entry) bool {
	changes := s.Change == plan.Create || s.Change == plan.Update || s.Change == plan.Deferred || s.Change == plan.Valid && s.MayChange
	there := !e.Incomplete() && s.MovedFrom == "" && s.Deposed == "" && !s.Another
	return changes && there && s.Kind() != plan.Replace && s.Intent() == protocol.Present && sameRun(s, e)
}

// Recorded reports whether a step has the recorded config and is run in the recorded way.
// A resource that is VALID with a config that was never applied is not recorded.
func Recorded(s *plan.Step, e state.Entry) bool {
	return sameRun(s, e) && equal(state.Entry{Config: s.Config}, state.Entry{Config: e.Config})
}

// sameRun reports whether a step runs the image of its entry, in the same way.
func sameRun(s *plan.Step, e state.Entry) bool {
	if s.Settings.Host.Same(e.Settings.Host) {
		e.Settings.Host = s.Settings.Host // the address and the name of the host may change
	}
	return equal(state.Entry{Digest: s.Init.Digest, Aliases: s.Aliases, Settings: s.Settings, Mounts: s.Mounts},
		state.Entry{Digest: e.Digest, Aliases: e.Aliases, Settings: e.Settings, Mounts: e.Mounts})
}

// Answered reports whether an approval of drift covers a step: Only is true of it, or apply
// decides when its config is known. Of a step with shutdown_first Only must be true now, as
// the whole apply would stop if it turned out to be false later.
func Answered(s *plan.Step, e state.Entry) bool {
	if s.Flexible() && s.Shutdown == nil {
		return Possible(s, e)
	}
	return Only(s, s.Config, e)
}

func equal(a, b state.Entry) bool { return state.EntryHash(a) == state.EntryHash(b) }

// Nothing reports whether a plan would change neither the world nor the state
// file.
func Nothing(p *plan.Plan, prior state.Snapshot) bool {
	if p.HasChanges() {
		return false
	}
	for addr, step := range p.Resources {
		e := prior.Resources[addr]
		owed := refresh.Owed(step.Subscribes, e, prior, func(string) bool { return false })
		if step.Change != plan.Valid || !jsondoc.Same(step.State, e.State) || len(owed) > 0 {
			return false
		}
	}
	return true
}

// Dependants returns the dependants of each resource.
func Dependants(m *config.Manifest) map[string][]string {
	after := map[string][]string{}
	for _, r := range m.Resources() {
		for _, e := range r.Edges {
			after[e.To] = append(after[e.To], r.Address)
		}
	}
	return after
}

// Names returns the names of actions.
func Names(list []protocol.Action) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}
