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

// Kind is the word for such steps among the kinds of change that are approved.
const Kind plan.Change = "drift"

// Only reports whether a step brings back just what its entry says: the same thing,
// of the same image, run in the same way, with the same config. config is its
// config evaluated with the states that there are now.
func Only(s *plan.Step, config json.RawMessage, e state.Entry) bool {
	return Possible(s, e) && equal(state.Entry{Config: config}, state.Entry{Config: e.Config})
}

// Possible reports whether a step can turn out to be one, whose config is not known
// yet, or may change.
func Possible(s *plan.Step, e state.Entry) bool {
	changes := s.Change == plan.Create || s.Change == plan.Update || s.Change == plan.Deferred || s.Change == plan.Valid && s.MayChange
	there := !e.Incomplete() && s.MovedFrom == "" && s.Deposed == "" && !s.Another
	return changes && there && s.Kind() != plan.Replace && s.Intent() == protocol.Present && sameRun(s, e)
}

// Recorded reports whether a step holds what is recorded to nothing else than what is
// recorded. One that is VALID as the manifest says it now is not, if that was not applied.
func Recorded(s *plan.Step, e state.Entry) bool {
	return sameRun(s, e) && equal(state.Entry{Config: s.Config}, state.Entry{Config: e.Config})
}

// sameRun reports whether the image of an entry is run, in the same way.
func sameRun(s *plan.Step, e state.Entry) bool {
	if s.Settings.Host.Same(e.Settings.Host) {
		e.Settings.Host = s.Settings.Host // how it is reached, and what it is called, is no other thing
	}
	return equal(state.Entry{Digest: s.Init.Digest, Aliases: s.Aliases, Settings: s.Settings, Mounts: s.Mounts},
		state.Entry{Digest: e.Digest, Aliases: e.Aliases, Settings: e.Settings, Mounts: e.Mounts})
}

// Answered reports whether an approval of such steps settles what becomes of a step:
// it is one, or apply will find out when its config is known. What is shut down before
// anything else is done is one already, or all would stop where it turns out to be none.
func Answered(s *plan.Step, e state.Entry) bool {
	if s.Flexible() && s.Shutdown == nil {
		return Possible(s, e)
	}
	return Only(s, s.Config, e)
}

func equal(a, b state.Entry) bool { return state.EntryHash(a) == state.EntryHash(b) }

// Nothing reports whether a plan would change neither the world nor what is
// recorded of it.
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

// Dependants says who depends on whom.
func Dependants(m *config.Manifest) map[string][]string {
	after := map[string][]string{}
	for _, r := range m.Resources() {
		for _, e := range r.Edges {
			after[e.To] = append(after[e.To], r.Address)
		}
	}
	return after
}

// Names are those of actions.
func Names(list []protocol.Action) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}
