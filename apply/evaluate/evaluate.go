package evaluate

import (
	"maps"
	"slices"
	"strings"

	"deployster/apply/query"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/observe"
	"deployster/state"
)

// Evaluator evaluates parts of the manifest of an apply with the real states.
type Evaluator struct{ queries *query.Queries }

// New returns the evaluator of an apply.
func New(q *query.Queries) Evaluator { return Evaluator{q} }

// Precondition returns the error of a precondition of a resource that fails or cannot be decided; nil = none.
func (e Evaluator) Precondition(addr string) *diag.Diagnostic {
	open, diags := e.queries.Manifest.Conditions(addr).Before(e.queries.Scope(addr))
	return broken("A precondition", open, diags)
}

// Postcondition returns the error of a postcondition of a resource that fails or cannot be decided; nil = none.
func (e Evaluator) Postcondition(addr string) *diag.Diagnostic {
	open, diags := e.queries.Manifest.Conditions(addr).After(e.queries.Scope(addr))
	return broken("A postcondition", open, diags)
}

// broken returns the error of a condition that fails or cannot be decided; nil = none.
func broken(what string, open []string, diags diag.Diagnostics) *diag.Diagnostic {
	switch {
	case diags.HasErrors():
		return diags.FirstError()
	case len(open) > 0:
		return stillOpen(what, open)
	}
	return nil
}

// stillOpen returns the error of a condition that cannot be decided though all states are known.
func stillOpen(what string, open []string) *diag.Diagnostic {
	open = slices.Compact(slices.Sorted(slices.Values(open)))
	return diag.Errorf(what+" cannot be decided", "It needs %s, which is not in the state that was reached. `deployster show` prints "+
		"that state.", strings.Join(open, ", "))
}

// Outputs returns the outputs to record: those that the plan leaves out as they are recorded.
func (e Evaluator) Outputs() (map[string]state.Output, diag.Diagnostics) {
	q := e.queries
	values, diags := q.Manifest.Outputs(observe.States(slices.Sorted(maps.Keys(q.Plan.Resources)), q.Facts.Look, q.Prior))
	outputs := make(map[string]state.Output, len(values))
	for _, v := range values {
		if len(v.Open) > 0 && !q.Plan.Outputs[v.Name].LeftOut {
			diags = append(diags, stillOpen("A precondition of the output "+v.Name, v.Open))
		}
		outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive, Export: v.Export}
	}
	for name, o := range q.Plan.Outputs {
		if !o.LeftOut {
			continue
		}
		delete(outputs, name)
		if prior, known := q.Prior.Outputs[name]; known {
			outputs[name] = prior
		}
	}
	return outputs, diags
}

// Checks evaluates the check blocks; look reads what they declare to be read, nil = nothing.
// The state of a resource that was not reached is not known,
// whatever the plan expected of it.
func (e Evaluator) Checks(look func(config.States) config.Looked) ([]config.CheckResult, diag.Diagnostics) {
	q := e.queries
	seen := func(addr string) observe.View {
		v, step := q.Facts.Look(addr), q.Plan.Resources[addr]
		if _, reached := q.Facts.Reached(addr); !reached && !step.Settled() {
			v.State, v.Partial = nil, true
		}
		return v
	}
	scope, looked := observe.States(slices.Sorted(maps.Keys(q.Plan.Resources)), seen, q.Prior), config.Looked{}
	if look != nil {
		looked = look(scope)
	}
	return q.Manifest.Checks(scope, looked)
}
