package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
)

// Confirm says what is asked for while an apply runs.
type Confirm int

// The modes. Each but the first makes the apply do one thing at a time.
const (
	ConfirmPlan     Confirm = iota // nothing: the plan as a whole was approved
	ConfirmResource                // each resource, right before its actions
	ConfirmAction                  // each action
)

// Deferred says what to do when it becomes known what a resource needs, and the
// plan could not show that: it was deferred, or it said that it may change, and
// did.
type Deferred int

// What to do.
const (
	DeferredApply   Deferred = iota // do it
	DeferredAsk                     // ask
	DeferredStop                    // take it as not approved
	DeferredByKinds                 // do it if Options.Kinds has its kind of change, else ask; with nobody to ask, stop
)

// Question is what a person is to answer before something is done.
type Question struct {
	Address string
	// Now is what is to be done, as a plan that is made now would show it.
	Now *plan.Step
	// Late says that the plan could not show this: the resource was deferred,
	// or it may change.
	Late bool
	// Action is the one that is asked about; nil: all that is to be done.
	Action *protocol.Action
}

// Answer is what a person says.
type Answer int

// The answers.
const (
	No   Answer = iota
	Yes         // to this
	All         // to this and to all that would be asked yet
	Quit        // no to this and to all that would be asked yet
)

// approval is what may be run for a step.
type approval struct {
	actions   []protocol.Action
	shutdown  *protocol.Action
	confirmed bool // somebody said yes to just this
}

// covers reports whether an answer asks for nothing beyond it.
func (a approval) covers(found protocol.Answer) bool {
	return len(a.actions) > 0 && sameActions(a.actions, found.Actions) && a.coversShutdown(found.ShutdownFirst)
}

// coversShutdown reports whether what is to be run first was approved. To run
// nothing first needs no yes, as it needs none to find a resource VALID.
func (a approval) coversShutdown(found *protocol.Action) bool {
	return found == nil || a.shutdown != nil && found.Name == a.shutdown.Name && sameCommand(found.Command, a.shutdown.Command)
}

// approved is what may be run for a step: what the plan showed, until somebody
// has said yes to something else.
func (r *run) approved(step *plan.Step) approval {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.approvals[step]; ok {
		return a
	}
	return approval{actions: step.Actions, shutdown: step.Shutdown}
}

func (r *run) setApproved(step *plan.Step, found protocol.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.approvals[step] = approval{actions: found.Actions, shutdown: found.ShutdownFirst, confirmed: true}
}

// approve finds out whether what a resource needs now may be run. asked says
// that a person took time over it, in which the world may have changed.
func (r *run) approve(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, sensitive []string,
	found protocol.Answer) (asked, ok bool) {
	approved := r.approved(step)
	same, policy := approved.covers(found), r.options.Deferred
	if r.options.Confirm == ConfirmPlan && (same || policy == DeferredApply) {
		return false, true // the usual case: nobody is to be asked
	}
	now := step.WithAnswer(in.Config, sensitive, found, r.hiddenBoth(step, out.addr, in.Config, found, sensitive))
	kind := slices.Contains(r.options.Kinds, now.Change) || step.Change == plan.Deferred && slices.Contains(r.options.Kinds, plan.Deferred)
	switch {
	case approved.confirmed && same:
		return false, true
	case !same && policy == DeferredStop:
		r.notShown(step, out, found)
		return false, false
	case r.options.Confirm == ConfirmAction:
		return false, true // each of them is asked about
	case r.options.Confirm == ConfirmResource && kind:
		return false, true
	case r.options.Confirm == ConfirmResource:
	case same, policy == DeferredApply, policy == DeferredByKinds && kind:
		return false, true
	case r.options.Ask == nil:
		r.notShown(step, out, found)
		return false, false
	}
	if !r.question(ctx, out, Question{Address: out.addr, Now: now, Late: !same}) {
		return true, false
	}
	r.setApproved(step, found)
	return true, true
}

// approveAction asks about one action where each is asked about.
func (r *run) approveAction(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, found protocol.Answer,
	a protocol.Action) bool {
	if r.options.Confirm != ConfirmAction {
		return true
	}
	now := step.WithAnswer(in.Config, step.Sensitive, found, r.hiddenBoth(step, out.addr, in.Config, found, step.Sensitive))
	if slices.Contains(r.options.Kinds, now.Change) {
		return true
	}
	return r.question(ctx, out, Question{Address: out.addr, Now: now, Late: !r.approved(step).covers(found), Action: &a})
}

// approveForget asks about a resource that is only dropped from the state file.
func (r *run) approveForget(ctx context.Context, step *plan.Step, out *outcome) bool {
	if r.options.Confirm == ConfirmPlan || slices.Contains(r.options.Kinds, plan.Forget) {
		return true
	}
	return r.question(ctx, out, Question{Address: out.addr, Now: step})
}

// question asks, one at a time. On a no the outcome says so.
func (r *run) question(ctx context.Context, out *outcome, q Question) bool {
	r.asking.Lock()
	defer r.asking.Unlock()
	answer, err := r.standing, ctx.Err()
	if err == nil && answer == No && r.options.Ask != nil {
		answer, err = r.options.Ask(ctx, q)
	}
	if answer == All || answer == Quit {
		r.standing = answer
	}
	left := out.report.Planned[min(len(out.report.Completed), len(out.report.Planned)):]
	switch {
	case ctx.Err() != nil:
		out.report.Status, out.report.Reason, out.report.NotAttempted = Interrupted, "interrupted at the question", left
		return false
	case err == nil && (answer == Yes || answer == All):
		return true
	case err != nil:
		out.decline("not approved: " + err.Error())
	default:
		out.decline("not approved")
	}
	out.report.NotAttempted = left
	return false
}

// decline marks a resource as not approved. What does not depend on it goes on.
func (o *outcome) decline(why string) {
	o.declined = true
	o.report.Status, o.report.Reason, o.report.NotAttempted = NotStarted, why, o.report.Planned
	if len(o.report.Completed) > 0 {
		o.report.Status, o.report.Failed = Error, failedApproval
	}
}

// notShown declines what the plan could not show, because nobody may or can say
// yes to it.
func (r *run) notShown(step *plan.Step, out *outcome, found protocol.Answer) {
	out.decline("not approved: the plan could not show what is to be done")
	detail := fmt.Sprintf("Now its image answers %s with the actions [%s], which the plan could not show, because %s.\n", found.Status,
		spell(found.Actions), step.Reason)
	if step.Change != plan.Deferred {
		out.report.Stale = r.differences(step, out.addr, found)
		detail = fmt.Sprintf("The plan said that it may change, because %s, and it has.\n%s", step.Reason, sideBySide(out.report.Stale))
	}
	out.problem = &diag.Diagnostic{Severity: diag.Error, Summary: "Not approved: what is to be done became known only now", Address: out.addr,
		Detail: detail + "Nothing of it was run, nor of what depends on it. To do it, plan and apply again, which shows it now; or allow it " +
			"with -deferred=apply."}
}

// hiddenBoth lists pointers into whichever state an answer holds of what must
// not be shown.
func (r *run) hiddenBoth(step *plan.Step, addr string, config json.RawMessage, found protocol.Answer, sensitive []string) []string {
	return slices.Concat(step.Hidden, r.hiddenIn(addr, config, found.StaleState, sensitive), r.hiddenIn(addr, config, found.State, sensitive))
}

// String is the word that a person types.
func (a Answer) String() string { return [...]string{"no", "yes", "all", "quit"}[a] }
