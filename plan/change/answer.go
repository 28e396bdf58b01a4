package change

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// WithAnswer returns the step as a plan would show it with what became known during the
// apply: the config and the answer of its image. Sensitive are pointers into the config,
// and hidden are pointers into the state of the answer, to values that must not be shown.
func (s *Step) WithAnswer(config json.RawMessage, sensitive []string, a protocol.Answer, hidden []string) *Step {
	now := *s
	now.Config, now.Sensitive, now.MayChangeAt, now.Unknown = config, sensitive, nil, nil
	now.Certainty = Certain
	if p, destroys := s.Part.(*Destroy); destroys {
		now.Part = &Destroy{Answer: AnswerOf(a, hidden), NotCreated: p.NotCreated, CurrentMounts: p.CurrentMounts}
		return &now
	}
	now.Reason, now.Part = nil, partWith(observe.ChangeOf(a.Status, s.Intent(), s.Publishes), AnswerOf(a, hidden))
	if p, updates := now.Part.(*Update); updates {
		p.NotCreated = s.NotCreated()
	}
	return &now
}

// Observed returns what a query of the state needs of a step.
func (s *Step) Observed(addr string) observe.Step {
	return observe.Step{Target: s.Target(addr), Type: &s.Init, Config: s.Config, Unknown: s.Unknown, Intent: s.Intent(), Aliases: s.Aliases,
		Subscribes: s.Subscribes, Publishes: s.Publishes}
}

// Take puts what a query found into the step, as the part of the change that follows from it.
func (s *Step) Take(o observe.Observation) { s.Part = partWith(o.Change, AnswerOf(o.Answer, o.Hidden)) }

// AnswerOf returns what an image answered. hidden are pointers into its states.
func AnswerOf(a protocol.Answer, hidden []string) Answer {
	answer := Answer{State: a.State, Stale: a.StaleState, Forecast: a.Forecast, UnknownNew: a.Unknown, Hidden: hidden, Actions: a.Actions,
		Shutdown: a.ShutdownFirst, Reasons: a.Reasons, Provides: a.Provides}
	if a.Status == protocol.Valid {
		answer.Memory = a.Memory
	}
	return answer
}

// Given returns what the type of a step is given, in the form of an entry.
func (s *Step) Given() state.Entry {
	return state.Entry{Config: s.Config, Digest: s.Init.Digest, Aliases: s.Aliases, Settings: s.Settings, Mounts: s.Mounts}
}

// View returns what the dependants of a step may expect of its resource. The state after
// an update is taken from the forecast, and for the rest from the present state.
func (s *Step) View() observe.View {
	a := s.Answer()
	v := observe.View{Type: s.Type, Config: s.Config, Aliases: s.Aliases, Partial: true, Hidden: a.Hidden, Schema: s.Init.StateSchema}
	for _, action := range a.Actions {
		v.Actions = append(v.Actions, action.Name)
	}
	switch s.Part.(type) {
	case *Valid:
		v.State, v.Status, v.Partial = a.State, protocol.Valid, s.Certainty == MayChange
		if v.Stays = s.Certainty == MayChange; v.Stays {
			v.Staying = jsondoc.TopLevel(a.State, nil)
		}
	case *Record, *Left: // nothing will be done: what was found stays
		v.State, v.Status, v.Partial = a.State, protocol.Valid, false
		if a.State == nil {
			v.State, v.Status, v.Partial = a.Stale, protocol.Stale, true
		}
	case *Update, *Deferred:
		if v.State, v.Unknown, v.Status = a.Forecast, a.UnknownNew, protocol.Missing; a.Stale == nil {
			break
		}
		v.State, v.Status, v.Stays = jsondoc.Blanked(observe.Overlay(a.Stale, a.Forecast), a.UnknownNew), protocol.Stale, true
		v.Staying = jsondoc.TopLevel(a.Stale, a.Forecast)
	default:
		v.State, v.Unknown, v.Status = a.Forecast, a.UnknownNew, protocol.Missing
	}
	return v
}
