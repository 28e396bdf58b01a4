package apply

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
)

// scope returns the states that the expressions of a resource may use when it is processed.
func (r *run) scope(addr string) config.States {
	scope := observe.States(append(slices.Clone(r.before[addr]), addr), r.facts.Look, r.prior)
	r.facts.TellHosts(scope)
	return scope
}

// preconditions checks the preconditions of a resource that may run actions, with
// the real states. Those of a valid resource were checked by the plan.
func (r *run) preconditions(step *plan.Step, out *outcome) bool {
	conditional, _ := r.manifest.Conditional(out.addr)
	if !conditional || step.Intent() == protocol.Absent || step.Settled() {
		return true
	}
	open, diags := r.manifest.Preconditions(out.addr, r.scope(out.addr))
	d := broken("A precondition", open, diags)
	if d != nil {
		out.report.NotAttempted = out.report.Planned
		out.fail(failedPrecondition, d)
	}
	return d == nil
}

// postconditions checks the postconditions of a resource with the reached state. That
// is recorded already, as it exists, but if they fail no dependant is started.
func (r *run) postconditions(step *plan.Step, out *outcome) {
	_, conditional := r.manifest.Conditional(out.addr)
	if !conditional || out.report.Status == Error || step.Intent() == protocol.Absent {
		return
	}
	open, diags := r.manifest.Postconditions(out.addr, r.scope(out.addr))
	if d := broken("A postcondition", open, diags); d != nil {
		out.fail(failedPostcondition, d)
		d.Detail += "\nWhat exists is recorded as it is. What depends on it was not started."
	}
}

// broken returns the error of a condition that fails or cannot be decided; nil = none.
func broken(what string, open []string, diags diag.Diagnostics) *diag.Diagnostic {
	switch {
	case diags.HasErrors():
		return firstError(diags)
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

// checks evaluates the check blocks with the present states. The state of a resource that
// was not reached is not known, whatever the plan expected of it.
func (r *run) checks(report *Report) {
	seen := func(addr string) observe.View {
		v, step := r.facts.Look(addr), r.plan.Resources[addr]
		if _, reached := r.facts.Reached(addr); !reached && !step.Settled() {
			v.State, v.Partial = nil, true
		}
		return v
	}
	results, diags := r.manifest.Checks(observe.States(slices.Sorted(maps.Keys(r.plan.Resources)), seen, r.prior))
	report.Checks, report.Problems = results, append(report.Problems, diags...)
}
