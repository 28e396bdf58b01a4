package apply

import (
	"context"
	"slices"

	"deployster/apply/compare"
	"deployster/apply/report"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/plan/subject"
	"deployster/protocol"
)

// confirmState queries the state of a resource right before its actions, and decides what
// may be run. After a person was asked, it queries the state again. It returns false when
// nothing is to be run; the outcome reports why.
func (r *stepRunner) confirmState(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput,
	sensitive []string) (protocol.Answer, bool) {
	for {
		r.options.event(Checking{Address: out.Addr})
		found := r.queries.State(step, out.Addr, in, sensitive)
		answer := found.Answer
		if found.Err != nil {
			out.failQuery(found.Err)
			return answer, false
		}
		if !in.Refresh && !out.again && r.queries.Overlooks(step, out.Addr, answer) {
			in.Refresh = true
			continue
		}
		ours := out.again || r.queries.IsRecorded(step, out.Addr) || step.Replaces == "" && r.queries.Brought(step)
		if err := subject.Exists(step.New, step.Replaces, ours, answer.Status); err != nil {
			out.Report.NotAttempted = out.Report.Planned
			out.fail(report.FailedState, err)
			return answer, false
		}
		if reached(found) {
			if !out.again && r.approvals.onlyDrift(step) && !repair.Only(step, in, r.prior.Resources[out.Addr]) &&
				!slices.Contains(r.options.Kinds, plan.Update) {
				r.notShown(step, out, answer) // nobody has approved that its config differs from the recorded one
				return answer, false
			}
			out.Report.Status = Skipped
			if u, begun := r.prior.Unsettled[out.Addr]; out.again || begun && u.Plan == r.plan.ID {
				out.Report.Status = OK // an earlier attempt, or the killed run of this plan, has done it
			} else if len(step.Answer().Actions) == 0 {
				out.Report.Status = Unchanged
			}
			r.record(step, out, in, r.found(found, sensitive))
			return answer, false
		}
		if r.completed(out.Addr) {
			out.changedSince()
			return answer, false
		}
		answer, ok := r.permitted(step, out, answer)
		if !ok {
			return answer, false
		}
		asked, ok := r.approve(ctx, step, out, in, sensitive, answer)
		if !ok || !asked {
			return answer, ok
		}
	}
}

// permitted reports whether the actions in an answer may be run: those that the plan
// showed may, others only where the plan left them open. It returns the answer with
// the actions that are to be run.
func (r *stepRunner) permitted(step *plan.Step, out *outcome, answer protocol.Answer) (protocol.Answer, bool) {
	if step.ReadOnly {
		out.fail(report.FailedState, diag.Errorf("Read-only resource differs from its config",
			"It is read_only and was not changed, but its image returned %s.", answer.Status))
		return answer, false
	}
	approved := r.approvals.of(step)
	after, stopped := r.facts.AfterShutdown(out.Addr)
	if stopped && (after == nil || after.ShutdownFirst != nil) {
		answer.ShutdownFirst = nil // it was run; else something has started the resource again since
	}
	if after != nil && len(approved.Actions) > 0 && compare.SameActions(after.Actions, answer.Actions) &&
		(protocol.Destructive(nil, answer.Actions) == "" || protocol.Destructive(nil, approved.Actions) != "") {
		// Only the shutdown_first of the resource has caused this difference, and no action
		// has become destructive by it: the actions that were shown are to follow.
		answer.Actions = approved.Actions
	}
	switch {
	case step.Flexible() || step.Certainty == plan.Early:
		out.Report.Planned = report.Names(answer.Actions)
	case !approved.Covers(answer) && !r.resumes(step, out.Addr, answer) && !(out.again && compare.Shown(step).Rest(answer)):
		out.drifted(r.differences(step, out.Addr, answer))
		return answer, false
	}
	return answer, true
}

// differences lists how an answer differs from the one that the plan showed.
func (r *stepRunner) differences(step *plan.Step, addr string, answer protocol.Answer) []compare.Difference {
	hidden := r.hiddenBoth(step, addr, step.Config, answer, step.Sensitive)
	return compare.Answers(step, answer, compare.Secrets{Hidden: hidden, Hide: r.options.Hide})
}
