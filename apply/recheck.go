package apply

import (
	"fmt"

	"deployster/plan"
	"deployster/protocol"
)

// doubts asks again about what a step would record or forget without running anything.
type doubts struct{ *run }

// of reports whether what a plan found may not be so any more, though the state file is as
// it was: an action was begun on the resource that may have ended since.
func (d doubts) of(addr string) bool {
	_, unsettled := d.prior.Unsettled[addr]
	return unsettled || d.prior.Resources[addr].Dirty
}

// still asks a resource of which no action is to be run, and refuses its step where
// the image says another status than it did when the plan was made.
func (d doubts) still(step *plan.Step, out *outcome, want protocol.Status) (protocol.Answer, bool) {
	as := *step
	if !d.plan.Selection.RefreshOnly {
		as.Change = plan.Destroy // as it was asked: nothing declares it
	}
	in, err := d.input(&as, out.addr, step.Config)
	if err != nil {
		out.fail(failedConfig, err)
		return protocol.Answer{}, false
	}
	d.event(Checking{Address: out.addr})
	answer, err := d.exec.State(d.work, step.Target(out.addr), step.Init, in)
	if err != nil {
		out.failQuery(err)
		return answer, false
	}
	if answer.Status != want {
		d := stale(fmt.Sprintf("the image says %s, and said %s when it was made", answer.Status, want), whatNow)
		out.fail(failedState, d)
		out.report.Reason = d.Summary
		return answer, false
	}
	return answer, true
}
