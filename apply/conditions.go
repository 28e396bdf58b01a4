package apply

import (
	"slices"
	"strings"

	"deployster/apply/report"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
)

// preconditions checks the preconditions of a resource that may run actions, with
// the real states. Those of a valid resource were checked by the plan.
func (r *stepRunner) preconditions(step *plan.Step, out *outcome) bool {
	conditional, _ := r.manifest.Conditional(out.Addr)
	if !conditional || step.Intent() == protocol.Absent || step.Settled() {
		return true
	}
	open, diags := r.manifest.Preconditions(out.Addr, r.queries.Scope(out.Addr))
	d := broken("A precondition", open, diags)
	if d != nil {
		out.Report.NotAttempted = out.Report.Planned
		out.fail(report.FailedPrecondition, d)
	}
	return d == nil
}

// postconditions checks the postconditions of a resource with the reached state. That
// is recorded already, as it exists, but if they fail no dependant is started.
func (r *stepRunner) postconditions(step *plan.Step, out *outcome) {
	_, conditional := r.manifest.Conditional(out.Addr)
	if !conditional || out.Report.Status == Error || step.Intent() == protocol.Absent {
		return
	}
	open, diags := r.manifest.Postconditions(out.Addr, r.queries.Scope(out.Addr))
	if d := broken("A postcondition", open, diags); d != nil {
		out.fail(report.FailedPostcondition, d)
		d.Detail += "\nWhat exists is recorded as it is. What depends on it was not started."
	}
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
