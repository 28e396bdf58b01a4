package repair

import (
	"slices"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// Kind is the approved kind of change that stands for steps which only restore what was recorded.
const Kind plan.Change = "drift"

// Only reports whether a step only restores what its entry records: the same object, and
// nothing that its type is given has changed. in has the config and the dependencies as they
// are now.
func Only(s *plan.Step, in protocol.StateInput, e state.Entry) bool {
	now := s.Given()
	e = observe.Completed(new(typeschema.Schemas), s.Init, e, in.Config)
	now.Config = in.Config
	if in.Dependencies != nil && e.Given != nil {
		now.Given = inputs.Given(s.Init, in.Dependencies, nil)
		e.Given = inputs.OfDependencies(e.Given)
	}
	return restorable(s, e) && inputs.Restores(inputs.Compare(now, e))
}

// Possible reports whether Only may turn out to be true of a step whose config is not
// known yet, or may change.
func Possible(s *plan.Step, e state.Entry) bool {
	return restorable(s, e) && inputs.Restores(differences(s, e))
}

// restorable reports whether a step makes or changes the object of its entry, and what the
// plan knows of its inputs has not changed.
func restorable(s *plan.Step, e state.Entry) bool {
	changes := slices.Contains([]plan.Change{plan.Create, plan.Update, plan.Deferred}, s.Change()) || s.Change() == plan.Valid &&
		!s.Settled()
	there := !e.Incomplete() && s.MovedFrom == "" && s.Deposed == "" && !s.OtherObject
	settled := inputs.Restores(inputs.Without(s.Inputs(), inputs.Config, inputs.Dependency)) // these two may still change
	return changes && there && settled && s.Kind() != plan.Replace && s.Intent() == protocol.Present
}

// Recorded reports whether a step has the recorded config and is run in the recorded way.
// A resource that is VALID with a config that was never applied is not recorded.
func Recorded(s *plan.Step, e state.Entry) bool {
	e = observe.Completed(new(typeschema.Schemas), s.Init, e, s.Config)
	return inputs.Restores(inputs.Compare(s.Given(), e))
}

// differences returns how a step runs another image than its entry, or in another way.
func differences(s *plan.Step, e state.Entry) []inputs.Change {
	now := s.Given()
	now.Config = nil
	return inputs.Compare(now, e)
}

// Answered reports whether an approval of drift covers a step: Only is true of it, or apply
// decides when its config is known. Of a step with shutdown_first Only must be true now, as
// the whole apply would stop if it turned out to be false later.
func Answered(s *plan.Step, e state.Entry) bool {
	if s.Flexible() && s.Answer().Shutdown == nil {
		return Possible(s, e)
	}
	return Only(s, protocol.StateInput{Config: s.Config}, e) && inputs.Restores(s.Inputs())
}

// Nothing reports whether a plan would change neither the world nor the state
// file.
func Nothing(p *plan.Plan, prior state.Snapshot) bool {
	if p.HasChanges() {
		return false
	}
	for addr, step := range p.Resources {
		e := prior.Resources[addr]
		owed := refresh.Owed(step.Subscribes, e, prior, func(string) bool { return false })
		if step.Change() != plan.Valid || !jsondoc.Same(step.Answer().State, e.State) || len(owed) > 0 {
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
