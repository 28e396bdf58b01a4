package observe

import (
	"context"
	"slices"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// ChangeOf returns the change of an object with a status: that its image is queried for the intent.
func ChangeOf(status protocol.Status, intent protocol.Intent, publishes bool) Change {
	switch {
	case intent == protocol.Absent && status == protocol.Missing:
		return Forget
	case intent == protocol.Absent:
		return Destroy
	case status == protocol.Valid:
		return Valid
	case status == protocol.Stale:
		return Update
	case publishes:
		return Publish
	}
	return Create
}

// Client queries images for states. *typeclient.Client is one.
type Client interface {
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
}

// Query is one question for the state of an object.
type Query struct {
	Step
	Input   protocol.StateInput // from Request
	Secrets *Secrets            // what an answer must not show; nil = Observation.Hidden is not needed
}

// Secrets are the values that must not be shown of an answer, in addition to those of the config.
type Secrets struct {
	Schemas typeschema.Reader
	Known   *secret.Hider // those of the manifest
	Entry   []string      // those of what is recorded of the object
}

// Observation is what a query found.
type Observation struct {
	Answer protocol.Answer
	Hidden []string // JSON pointers into the state of the answer, or its stale state, and its forecast; sorted
	Change Change
	Err    error
}

// Observe queries an object for its state.
func Observe(ctx context.Context, c Client, q Query) Observation {
	answer, err := c.State(ctx, q.Target, *q.Type, q.Input)
	if err != nil {
		return Observation{Answer: answer, Err: err}
	}
	o := Observation{Answer: answer, Change: ChangeOf(answer.Status, q.Intent, q.Publishes)}
	if q.Secrets != nil {
		found := answer.State
		if found == nil {
			found = answer.StaleState
		}
		o.Hidden = slices.Concat(q.Secrets.In(&q.Step, found), q.Secrets.In(&q.Step, answer.Forecast))
		slices.Sort(o.Hidden)
		o.Hidden = slices.Compact(o.Hidden)
	}
	return o
}

// ObserveNotified queries the state of an object, and queries it again with a notification if it has missed one.
// It is never notified where acts is false: then no action is run. known reports whether an entry has it.
func ObserveNotified(ctx context.Context, c Client, q *Query, acts, known bool, scope Scope) Observation {
	q.Input.Refresh = q.Input.Refresh && acts
	o := Observe(ctx, c, *q)
	if !acts || known || o.Err != nil || !MissesRefresh(&q.Step, o.Answer, scope) {
		return o
	}
	q.Input.Refresh = true
	return Observe(ctx, c, *q)
}

// In lists the places of a state of a step's object that must not be shown.
func (x *Secrets) In(s *Step, found []byte) []string {
	values := append(secret.Values(s.Config, s.Target.Sensitive), x.Entry...)
	return HiddenInState(x.Schemas, *s.Type, found, values, s.Target.Sensitive, x.Known)
}
