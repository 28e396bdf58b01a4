package apply

import (
	"context"
	"encoding/json"

	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// request returns the input that all queries and actions of a step share. unknown are the
// unknown values of the config, by JSON pointers.
func (r *run) request(step *plan.Step, addr string, config json.RawMessage, unknown map[string]string) (protocol.StateInput, error) {
	around := observe.Scope{Prior: r.prior, View: r.facts.Look, Acts: r.facts.Acted}
	if step.Intent() == protocol.Absent {
		around.View = observe.RecordedViews(r.prior, r.facts.Look)
	}
	entry := recorded(r, step, addr)
	if entry != nil {
		complete := observe.Completed(r.exec, step.Init, *entry, config)
		entry = &complete
	}
	of := step.Observed(addr)
	of.Config, of.Unknown = config, unknown
	in, err := observe.Request(&of, entry, around)
	r.facts.TellMemory(&in, addr)
	if step.Old() != nil && step.Init.Memory && in.Memory == nil && r.facts.IsGone(addr) {
		in.After = names(step.Old().Answer().Actions) // else the image may take what the config names for the new thing
	}
	return in, err
}

// queries asks images for states until the work of an apply ends.
type queries struct {
	work context.Context
	exec Executor
}

// state queries the state of a step's object.
func (q queries) state(step *plan.Step, addr string, in protocol.StateInput) observe.Observation {
	return observe.Observe(q.work, q.exec, observe.Query{Step: step.Observed(addr), Input: in})
}

// recorded returns the entry of a step's thing; nil = none. The entry of the old thing that
// was destroyed for it does not count, nor does that of another thing at its address.
func recorded(r *run, step *plan.Step, addr string) *state.Entry {
	entry, known := r.prior.Resources[addr]
	if !known || (step.Another || r.facts.IsGone(addr)) && !begun(r, step, addr) {
		return nil
	}
	return &entry
}
