package apply

import (
	"fmt"

	"deployster/apply/fresh"
	"deployster/plan"
	"deployster/protocol"
)

// doubts asks the state again for steps that record or forget without running an action.
type doubts struct{ *run }

// of reports whether what a plan found may have changed, though the state file has not: an
// action was started on the resource, and may have ended since.
func (d doubts) of(addr string) bool {
	_, unsettled := d.prior.Unsettled[addr]
	return unsettled || d.prior.Resources[addr].Dirty
}

// still asks the state of a resource that runs no action, and refuses its step if the
// image answers another status than when the plan was made.
func (d doubts) still(step *plan.Step, out *outcome, want protocol.Status) (protocol.Answer, bool) {
	as := step
	if !d.plan.Selection.RefreshOnly {
		as = step.Absent() // the plan asked for its absence: no manifest declares it
	}
	in, err := d.request(as, out.addr, step.Config, nil)
	if err != nil {
		out.fail(failedConfig, err)
		return protocol.Answer{}, false
	}
	d.options.event(Checking{Address: out.addr})
	o := d.queries.state(as, out.addr, in)
	answer, err := o.Answer, o.Err
	if err != nil {
		out.failQuery(err)
		return answer, false
	}
	if answer.Status != want {
		d := fresh.Stale(fmt.Sprintf("the image returned %s, and %s when the plan was made", answer.Status, want), whatNow)
		out.fail(failedState, d)
		out.report.Reason = d.Summary
		return answer, false
	}
	return answer, true
}
