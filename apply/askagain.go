package apply

import (
	"bytes"
	"fmt"

	"deployster/apply/entries"
	"deployster/apply/fresh"
	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// askAgain queries again the state of a resource that was valid before others of its kind
// were destroyed. Another state than before is recorded, also one that is no longer valid, so
// that no later plan takes the resource for unchanged.
func (r *stepRunner) askAgain(out *outcome) {
	out.Report.Status = Unchanged
	if !r.facts.AskAgain(out.Addr) {
		return // none was destroyed after all
	}
	step, in, sensitive, err := r.queries.AsValid(out.Addr)
	if err != nil {
		out.fail(report.FailedConfig, err)
		return
	}
	r.options.event(Checking{Address: out.Addr, After: true})
	if answer, valid := r.again(step, out, in, sensitive, report.FailedRemoval, "after others of its kind were destroyed"); valid {
		r.facts.SetAnswered(out.Addr, answer) // its own step may still be to come
	}
}

// soaked queries a resource after the soak of a wave.
func (r *stepRunner) soaked(out *outcome, wave int) {
	step, in, sensitive, err := r.queries.AsValid(out.Addr)
	if err == nil {
		step, err = r.late.Of(step, out.Addr, whatNow)
	}
	if err != nil {
		out.failHost(err)
		return
	}
	when := fmt.Sprintf("after the soak of wave %d", wave)
	if _, valid := r.again(step, out, in, sensitive, report.FailedSoak, when); !valid && out.Report.Failed == report.FailedSoak {
		out.Problem = &diag.Diagnostic{Severity: diag.Error, Summary: "Not VALID after the soak", Address: out.Addr,
			Detail: fmt.Sprintf("It was VALID, and %s. Its host %s has failed. Plan again to see what is to be done.", out.Report.Reason,
				turns.HostName(step))}
	}
}

// again queries a resource that was VALID. One that is not fails: failed is ResourceReport.Failed, and
// when reports since when.
func (r *stepRunner) again(step *plan.Step, out *outcome, in protocol.StateInput, sensitive []string,
	failed, when string) (a protocol.Answer, valid bool) {
	found := r.queries.State(step, out.Addr, in, sensitive)
	answer := found.Answer
	if found.Err != nil {
		out.failQuery(found.Err)
		return answer, false
	}
	v, reached := r.facts.Reached(out.Addr)
	if answer.Status == protocol.Valid {
		if reached && !bytes.Equal(answer.State, v.State) {
			r.keep(step, out, in, r.found(found, sensitive))
		}
		return answer, true
	}
	out.Report.Status, out.Report.Failed = Error, failed
	out.Report.Reason = fmt.Sprintf("its image returned %s %s", answer.Status, when)
	entry, known := r.prior.Completed(out.Addr)
	if reached {
		was := entries.Found{State: v.State, Hidden: v.Hidden, Sensitive: sensitive, Seen: r.options.Now()}
		entry = r.entries.Lost(step, out.Addr, in, was)
		known = true
	}
	if !known {
		return answer, false
	}
	entry.LastSeen = &state.LastSeen{State: answer.StaleState, Sensitive: found.Hidden, At: r.options.Now()}
	if err := r.journal.Valid(out.Addr, entry); err != nil {
		out.failJournal(err)
	}
	return answer, false
}

// still queries the state of a resource that runs no action, and refuses its step if the
// image answers another status than when the plan was made.
func (r *stepRunner) still(step *plan.Step, out *outcome, want protocol.Status) (found observe.Observation, ok bool) {
	as := step
	if !r.plan.Selection.RefreshOnly {
		as = step.Absent() // the plan requested its absence: no manifest declares it
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
