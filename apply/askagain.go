package apply

import (
	"bytes"
	"fmt"

	"deployster/apply/fresh"
	"deployster/apply/report"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// askAgain asks again for the state of a resource that was valid before others of its kind
// were destroyed. Another state than before is recorded, also one that is no longer valid, so
// that no later plan takes the resource for unchanged.
func (r *stepRunner) askAgain(out *outcome) {
	out.Report.Status = Unchanged
	if !r.facts.AskAgain(out.Addr) {
		return // none was destroyed after all
	}
	step, in, err := r.queries.AsValid(out.Addr)
	if err != nil {
		out.fail(report.FailedConfig, err)
		return
	}
	r.options.event(Checking{Address: out.Addr, After: true})
	found := r.queries.State(step, out.Addr, in, step.Sensitive)
	if found.Err != nil {
		out.failQuery(found.Err)
		return
	}
	answer := found.Answer
	v, reached := r.facts.Reached(out.Addr)
	if answer.Status == protocol.Valid {
		r.facts.SetAnswered(out.Addr, answer) // its own step may still be to come
		if reached && !bytes.Equal(answer.State, v.State) {
			r.keep(step, out, in, r.found(found, step.Sensitive))
		}
		return
	}
	out.Report.Status, out.Report.Failed = Error, report.FailedRemoval
	out.Report.Reason = fmt.Sprintf("its image returned %s after others of its kind were destroyed", answer.Status)
	entry, known := r.prior.Completed(out.Addr)
	if reached {
		entry = r.entries.Of(step, out.Addr, in, step.Sensitive)
		entry.State, entry.Sensitive.State, entry.ValidAt, known = v.State, v.Hidden, r.options.Now(), true
	}
	if !known {
		return
	}
	entry.LastSeen = &state.LastSeen{State: answer.StaleState, Sensitive: found.Hidden, At: r.options.Now()}
	if err := r.journal.Valid(out.Addr, entry); err != nil {
		out.failJournal(err)
	}
}

// still asks the state of a resource that runs no action, and refuses its step if the
// image answers another status than when the plan was made.
func (r *stepRunner) still(step *plan.Step, out *outcome, want protocol.Status) (found observe.Observation, ok bool) {
	as := step
	if !r.plan.Selection.RefreshOnly {
		as = step.Absent() // the plan asked for its absence: no manifest declares it
	}
	in, err := r.queries.Request(as, out.Addr, step.Config, nil)
	if err != nil {
		out.fail(report.FailedConfig, err)
		return found, false
	}
	r.options.event(Checking{Address: out.Addr})
	found = r.queries.State(as, out.Addr, in, step.Sensitive)
	if found.Err != nil {
		out.failQuery(found.Err)
		return found, false
	}
	if found.Answer.Status != want {
		d := fresh.Stale(fmt.Sprintf("the image returned %s, and %s when the plan was made", found.Answer.Status, want), whatNow)
		out.fail(report.FailedState, d)
		out.Report.Reason = d.Summary
		return found, false
	}
	return found, true
}
