package plan

import (
	"context"

	"deployster/config"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// Observed returns what a query of the state needs of a step.
func (s *Step) Observed(addr string) observe.Step {
	return observe.Step{Target: s.Target(addr), Type: &s.Init, Config: s.Config, Unknown: s.Unknown, Intent: s.Intent(), Aliases: s.Aliases,
		Subscribes: s.Subscribes, Publishes: s.Publishes}
}

// query returns a query of the state of a step's object, without an input. entry is what is
// recorded at its address.
func (b *builder) query(addr string, s *Step, entry state.Entry) observe.Query {
	return observe.Query{Step: s.Observed(addr), Secrets: &observe.Secrets{Schemas: b.prober, Known: config.Hider(b.Manifest), Entry: entry}}
}

// observe queries the state of an object. entry is the entry of the object, and not of another one
// at its address; nil = none.
func (b *builder) observe(ctx context.Context, q *observe.Query, entry *state.Entry, around observe.Scope) observe.Observation {
	b.progress(Asking{q.Target.Address})
	in, err := observe.Request(&q.Step, entry, around)
	if err != nil {
		return observe.Observation{Err: err}
	}
	in.Refresh = in.Refresh && !b.Selection.RefreshOnly // a plan that only records runs no action
	q.Input = in
	return observe.Observe(ctx, b.prober, *q)
}

// asRecorded returns the scope of the query of an object with its recorded config: of its
// dependencies the recorded states are sent, and else what look gives.
func (d *decided) asRecorded(look func(addr string) observe.View) observe.Scope {
	return observe.Scope{Prior: d.subject.Prior, View: observe.RecordedViews(d.subject.Prior, look)}
}

// found puts what a query found into the step, and the change that follows from it.
func (s *Step) found(b *builder, o observe.Observation) {
	s.take(o.Answer, o.Change)
	s.Hidden = o.Hidden
}

// take puts the answer of an image into the step, and the change that follows from it.
func (s *Step) take(a protocol.Answer, change Change) {
	s.State, s.Stale, s.Forecast, s.UnknownNew, s.Memory = a.State, a.StaleState, a.Forecast, a.Unknown, nil
	s.Actions, s.Shutdown, s.Reasons = a.Actions, a.ShutdownFirst, a.Reasons
	if s.Change = change; a.Status == protocol.Valid {
		s.Memory = a.Memory
	}
}
