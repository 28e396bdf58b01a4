package apply

import (
	"deployster/apply/report"
	"deployster/plan"
	"deployster/protocol"
)

// preconditions checks the preconditions of a resource that may run actions, with
// the real states. Those of a valid resource were checked by the plan.
func (r *stepRunner) preconditions(step *plan.Step, out *outcome) bool {
	conditional, _ := r.manifest.Conditions(out.Addr).Any()
	if !conditional || step.Intent() == protocol.Absent || step.Settled() {
		return true
	}
	d := r.evaluated.Precondition(out.Addr)
	if d != nil {
		out.Report.NotAttempted = out.Report.Planned
		out.fail(report.FailedPrecondition, d)
	}
	return d == nil
}

// postconditions checks the postconditions of a resource with the reached state. That
// is recorded already, as it exists, but if they fail no dependant is started.
func (r *stepRunner) postconditions(step *plan.Step, out *outcome) {
	_, conditional := r.manifest.Conditions(out.Addr).Any()
	if !conditional || out.Report.Status == Error || step.Intent() == protocol.Absent {
		return
	}
	if d := r.evaluated.Postcondition(out.Addr); d != nil {
		out.fail(report.FailedPostcondition, d)
		d.Detail += "\nWhat exists is recorded as it is. What depends on it was not started."
	}
}
