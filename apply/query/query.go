package query

import (
	"context"
	"encoding/json"
	"slices"

	"deployster/apply/facts"
	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// Client queries images for types and states, and reads the schemas of types. *typeclient.Client is one.
type Client interface {
	typeschema.Reader
	Init(ctx context.Context, t typeclient.Target) (protocol.Type, error)
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeschema.Violation
}

// Of is what an apply has: its plan, the state and the manifest that it began with, and the facts
// that become known in it.
type Of struct {
	Plan     *plan.Plan
	Prior    state.Snapshot
	Died     state.Applied // an earlier run of this plan that was killed and is continued
	Manifest *config.Manifest
	Facts    *facts.Facts
	Client   Client
}

// Queries query the objects of an apply until its work ends. They are safe for concurrent use.
type Queries struct {
	Of
	work   context.Context
	before graph.Graph
}

// New returns the queries of an apply. work ends at its second interrupt.
func New(work context.Context, of Of) *Queries {
	return &Queries{Of: of, work: work, before: of.Plan.Before()}
}

// Waits reports whether anything is done before a resource.
func (q *Queries) Waits(addr string) bool { return len(q.before[addr]) > 0 }

// Scope returns the states that the expressions of a resource may use when it is processed.
func (q *Queries) Scope(addr string) config.States {
	scope := observe.States(append(slices.Clone(q.before[addr]), addr), q.Facts.Look, q.Prior)
	q.Facts.TellHosts(scope)
	return scope
}

// Request returns the input that all queries and actions of a step share. unknown are the
// unknown values of the config, by JSON pointers.
func (q *Queries) Request(step *plan.Step, addr string, config json.RawMessage, unknown map[string]string) (protocol.StateInput, error) {
	around := observe.Scope{Prior: q.Prior, View: q.Facts.Look, Acts: q.Facts.Acted}
	if step.Intent() == protocol.Absent {
		around.View = observe.RecordedViews(q.Prior, q.Facts.Look)
	}
	entry := q.Recorded(step, addr)
	if entry != nil {
		complete := observe.Completed(q.Client, step.Init, *entry, config)
		entry = &complete
	}
	of := step.Observed(addr)
	of.Config, of.Unknown = config, unknown
	in, err := observe.Request(&of, entry, around)
	q.Facts.TellMemory(&in, addr)
	if step.Old() != nil && step.Init.Memory && in.Memory == nil && q.Facts.IsGone(addr) {
		// else the image may take what the config names for the new object
		for _, a := range step.Old().Answer().Actions {
			in.After = append(in.After, a.Name)
		}
	}
	return in, err
}

// State queries the state of a step's object. sensitive are JSON pointers into the config of in.
func (q *Queries) State(step *plan.Step, addr string, in protocol.StateInput, sensitive []string) observe.Observation {
	of := step.Observed(addr)
	of.Config, of.Target.Sensitive = in.Config, sensitive
	return observe.Observe(q.work, q.Client, observe.Query{Step: of, Input: in, Secrets: q.secrets(addr)})
}

// Overlooks reports whether nobody has notified an object that an answer is about, and that has no
// entry, of an action on what it subscribes.
func (q *Queries) Overlooks(step *plan.Step, addr string, answer protocol.Answer) bool {
	if q.IsRecorded(step, addr) {
		return false
	}
	of := step.Observed(addr)
	return observe.MissesRefresh(&of, answer, observe.Scope{Prior: q.Prior, Acts: q.Facts.Acted})
}

// Hidden returns the pointers into a state of a step's object to values that must not be shown. The
// object was made with the config, which is sensitive at these JSON pointers.
func (q *Queries) Hidden(step *plan.Step, addr string, config, found json.RawMessage, sensitive []string) []string {
	of := step.Observed(addr)
	of.Config, of.Target.Sensitive = config, sensitive
	return q.secrets(addr).In(&of, found)
}

func (q *Queries) secrets(addr string) *observe.Secrets {
	return &observe.Secrets{Schemas: q.Client, Known: config.Hider(q.Manifest), Entry: observe.SecretsOf(q.Prior.Resources[addr])}
}

// Sensitive lists the places of a config that must not be shown, and their values.
func (q *Queries) Sensitive(step *plan.Step, resolved config.Resolved) (pointers, values []string) {
	pointers = observe.HiddenInConfig(q.Client, step.Init, resolved)
	return pointers, secret.Values(resolved.Value, pointers)
}

// Doubts reports whether what a plan found may have changed, though the state file has not: an
// action was started on the resource, and may have ended since.
func (q *Queries) Doubts(addr string) bool {
	_, unsettled := q.Prior.Unsettled[addr]
	return unsettled || q.Prior.Resources[addr].Dirty
}

// Recorded returns the entry of a step's object; nil = none. The entry of the old object that
// was destroyed for it does not count, nor does that of another object at its address.
func (q *Queries) Recorded(step *plan.Step, addr string) *state.Entry {
	if !q.IsRecorded(step, addr) {
		return nil
	}
	entry := q.Prior.Resources[addr]
	return &entry
}

// IsRecorded reports whether a step's object has an entry, which Recorded returns.
func (q *Queries) IsRecorded(step *plan.Step, addr string) bool {
	_, known := q.Prior.Resources[addr]
	return known && (!step.OtherObject && !q.Facts.IsGone(addr) || q.begun(step, addr))
}

// begun reports whether the entry of a resource is the one that a killed run of this plan
// began, in place of an entry that was removed, released, or given another address.
func (q *Queries) begun(step *plan.Step, addr string) bool {
	_, done := q.Died.Done[addr]
	return done || step.OtherObject && q.Prior.Unsettled[addr].Plan == q.Plan.ID
}

// Brought reports whether the object of a step that was planned as a creation is below what something that this
// apply has created brings: if it exists now, that has made it.
func (q *Queries) Brought(step *plan.Step) bool {
	return step.Change() == plan.Create && slices.ContainsFunc(step.BroughtBy, q.Facts.Created)
}

// Releases reports whether the next action of a step is the first on its object, and the entry
// at its address is of another object, which stays: the entry is released when the action starts.
func (q *Queries) Releases(step *plan.Step, addr string) bool {
	_, known := q.Prior.Resources[addr]
	return known && step.OtherObject && !q.begun(step, addr) && !q.Facts.Acted(addr)
}

// AsValid returns the step and the input to query a valid resource: as the plan has it, as it was
// reached in this apply, or from its entry, where the plan omits it. The config of the input is
// sensitive at the JSON pointers.
func (q *Queries) AsValid(addr string) (step *plan.Step, in protocol.StateInput, sensitive []string, err error) {
	step, planned := q.Plan.Resources[addr]
	if !planned {
		entry := objects.HostsOf(q.Manifest, q.Plan.Hosts).Place(q.Prior.Resources[addr])
		step = plan.RecordedStep(entry)
		step.Init = q.Plan.Others[addr]
		of := step.Observed(addr)
		in, err = observe.Request(&of, &entry, observe.Scope{Prior: q.Prior, View: observe.RecordedViews(q.Prior, q.Facts.Look)})
		return step, in, step.Sensitive, err
	}
	if step.Undescribed() {
		now := *step
		now.Init = q.Facts.TypeOf(addr)
		step = &now
	}
	v, reached := q.Facts.Reached(addr)
	if !reached {
		in, err = q.Request(step, addr, step.Config, nil)
		in.Applied = nil
		return step, in, step.Sensitive, err
	}
	in, err = q.Request(step, addr, v.Config, nil)
	in.LastState, in.LastConfig, in.Refresh, in.Changed, in.Applied = v.State, v.Config, false, nil, nil // as it was VALID last
	return step, in, q.Facts.Sensitive(addr), err
}
