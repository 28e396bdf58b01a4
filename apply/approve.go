package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"deployster/apply/compare"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
)

// Confirm reports what a person is asked to approve while an apply runs.
type Confirm int

// The modes. Each but the first makes the apply do one resource at a time.
const (
	ConfirmPlan     Confirm = iota // nothing: the plan as a whole was approved
	ConfirmResource                // each resource, right before its actions
	ConfirmAction                  // each action
)

// Deferred reports what to do about changes that become known only during apply, so that
// the plan could not show them: the resource was deferred, or the plan reported that it may
// change, and it did.
type Deferred int

// The policies.
const (
	DeferredApply     Deferred = iota // do it
	DeferredAsk                       // ask
	DeferredStop                      // treat it as not approved
	DeferredByKinds                   // do it if Options.Kinds has its kind of change, else ask; if there is no terminal to prompt on, stop
	DeferredAskBeyond                 // do it if it is a creation that the plan has announced, else ask
)

// approve decides whether the actions that a resource needs now may be run. asked reports
// that a person was asked, and that the world may have changed meanwhile.
func (r *stepRunner) approve(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, sensitive []string,
	found protocol.Answer) (asked, ok bool) {
	approved := r.approvals.of(step)
	shown := approved.Covers(found) || out.again && compare.Shown(step).Rest(found) || follows(r, step, out.Addr, found) ||
		r.resumes(step, out.Addr, found) || r.brought(step, out.Addr, found)
	same, policy := shown && !r.approvals.onlyDrift(step), r.options.Deferred
	declared := r.manifest.Resource(out.Addr)
	protected := r.options.Stays || step.Protect || r.prior.Resources[out.Addr].PreventDestroy
	stays := protected || declared != nil && declared.CreateFirst // it must not be destroyed, or not before the new one exists
	if stays && !shown && step.WithAnswer(in.Config, sensitive, found, nil).Kind() == plan.Replace {
		r.notShown(step, out, found)
		return false, false
	}
	if r.options.Confirm == ConfirmPlan && (same || policy == DeferredApply) {
		return false, true // the usual case: no question is needed
	}
	if o := r.options.Allowed; o != nil && !o(out.Addr, found.Actions) {
		r.notShown(step, out, found)
		return false, false
	}
	now := inQuestion(r, step, out.Addr, in, sensitive, found)
	deferred := step.Change() == plan.Deferred && slices.Contains(r.options.Kinds, plan.Deferred)
	drifted := slices.Contains(r.options.Kinds, repair.Kind) && repair.Only(step, in, r.prior.Resources[out.Addr])
	kind := slices.Contains(r.options.Kinds, now.Kind()) || (deferred || drifted) && now.Kind() != plan.Replace
	switch {
	case approved.Confirmed && same:
		return false, true
	case !same && policy == DeferredStop:
		r.notShown(step, out, found)
		return false, false
	case r.options.Confirm == ConfirmAction:
		return false, true // approveAction prompts about each action
	case r.options.Confirm == ConfirmResource && kind:
		return false, true
	case r.options.Confirm == ConfirmResource:
	case same, policy == DeferredApply, policy == DeferredByKinds && kind, policy == DeferredAskBeyond && announced(step, now):
		return false, true
	case r.options.Ask == nil:
		r.notShown(step, out, found)
		return false, false
	}
	if !r.approvals.ask(ctx, out, Question{Address: out.Addr, Now: now, Late: !same}) {
		return true, false
	}
	r.approvals.set(step, found)
	return true, true
}

// inQuestion returns a step as a person is asked about it.
func inQuestion(r *stepRunner, step *plan.Step, addr string, in protocol.StateInput, sensitive []string, found protocol.Answer) *plan.Step {
	now := step.WithAnswer(in.Config, sensitive, found, r.hiddenBoth(step, addr, in.Config, found, sensitive))
	was := r.queries.Recorded(step, addr)
	now.SetNotCreated(now.NotCreated() || now.Kind() == plan.Replace && found.StaleState != nil && (was == nil || was.Adopted))
	return now
}

// announced reports whether a resource is to be created, and the plan has announced that
// without the actions: the approval of the plan covers it. That is a deferred resource that
// was expected to be created, or a replaced one that is destroyed by now: to ask again would
// leave it destroyed if nobody answers.
func announced(step *plan.Step, now *plan.Step) bool {
	return now.Kind() == plan.Create && (step.Change() == plan.Replace || step.Change() == plan.Deferred && step.Expected() == plan.Create)
}

// follows reports whether an answer needs the actions that were shown to come after a
// shutdown_first, which has run. The resource is deferred and was asked with unknown values:
// these are known now, so only the arguments of the actions may differ.
func follows(r *stepRunner, step *plan.Step, addr string, found protocol.Answer) bool {
	_, stopped := r.facts.AfterShutdown(addr)
	return stopped && step.Change() == plan.Deferred && found.ShutdownFirst == nil && found.StaleState == nil &&
		len(step.Answer().Actions) > 0 && slices.EqualFunc(step.Answer().Actions, found.Actions, compare.SameButArguments)
}

// onlyDrift reports whether a step is approved only if it restores what was recorded:
// whether it does is known when its config is known.
func (a *approvals) onlyDrift(step *plan.Step) bool {
	o := a.options
	return o.Ask == nil && step.Flexible() && o.Deferred == DeferredByKinds && slices.Contains(o.Kinds, repair.Kind) &&
		!slices.Contains(o.Kinds, step.Change())
}

// approveAction prompts a person about one action, with ConfirmAction.
func (r *stepRunner) approveAction(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, found protocol.Answer,
	a protocol.Action) bool {
	if r.options.Confirm != ConfirmAction {
		return true
	}
	now := inQuestion(r, step, out.Addr, in, step.Sensitive, found)
	if slices.Contains(r.options.Kinds, now.Kind()) {
		return true
	}
	return r.approvals.ask(ctx, out, Question{Address: out.Addr, Now: now, Late: !r.approvals.of(step).Covers(found), Action: &a})
}

// notShown declines changes that the plan could not show, because nobody may approve
// them or can be asked.
func (r *stepRunner) notShown(step *plan.Step, out *outcome, found protocol.Answer) {
	out.decline("not approved: the plan could not show what is to be done")
	detail := fmt.Sprintf("Now its image answers %s with the actions [%s], which the plan could not show, because %s.\n", found.Status,
		compare.Spell(found.Actions), step.Reason.Words())
	if step.Change() != plan.Deferred {
		out.Report.Stale = r.differences(step, out.Addr, found)
		why := "The plan showed that it may change, because %s, and it has.\n%s"
		switch {
		case step.Certainty == plan.QueriedAgain:
			why = "The plan showed its actions for any outcome of the others (%s), and the image returned others.\n%s"
		case step.Certainty == plan.Early:
			why = "Its image was queried early for the plan (%s), and returned other actions now.\n%s"
		}
		detail = fmt.Sprintf(why, step.Reason.Words(), compare.SideBySide(out.Report.Stale))
	}
	out.Problem = &diag.Diagnostic{Severity: diag.Error, Summary: "Not approved: the plan could not show these changes", Address: out.Addr,
		Detail: detail + "Neither it nor its dependants were run. To run it, plan and apply again, which shows it now; or allow it with " +
			"-deferred=apply."}
}

// hiddenBoth lists pointers, into whichever state an answer has, to values that must
// not be shown.
func (r *stepRunner) hiddenBoth(step *plan.Step, addr string, config json.RawMessage, found protocol.Answer, sensitive []string) []string {
	return slices.Concat(step.Answer().Hidden, r.queries.Hidden(step, addr, config, found.StaleState, sensitive),
		r.queries.Hidden(step, addr, config, found.State, sensitive))
}
