package apply

import (
	"context"
	"slices"
	"sync"

	"deployster/plan"
	"deployster/protocol"
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

// String is the word that a person types.
func (a Answer) String() string { return [...]string{"no", "yes", "all", "quit"}[a] }

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
	return found == nil || a.shutdown != nil && sameAction(*found, *a.shutdown)
}

// approvals are what people have said yes to, and asks them. Many goroutines
// use them.
type approvals struct {
	options Options

	mu    sync.Mutex // guards what follows
	given map[*plan.Step]approval

	asking   sync.Mutex // one question at a time; guards what follows
	standing Answer     // All or Quit, once somebody said so
}

// of is what may be run for a step: what the plan showed, until somebody has said
// yes to something else.
func (a *approvals) of(step *plan.Step) approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	if given, ok := a.given[step]; ok {
		return given
	}
	return approval{actions: step.Actions, shutdown: step.Shutdown}
}

func (a *approvals) set(step *plan.Step, found protocol.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given[step] = approval{actions: found.Actions, shutdown: found.ShutdownFirst, confirmed: true}
}

// forget asks about a resource that is only dropped from the state file.
func (a *approvals) forget(ctx context.Context, step *plan.Step, out *outcome) bool {
	if a.options.Confirm == ConfirmPlan || slices.Contains(a.options.Kinds, plan.Forget) {
		return true
	}
	return a.ask(ctx, out, Question{Address: out.addr, Now: step})
}

// ask asks, one at a time. On a no the outcome says so.
func (a *approvals) ask(ctx context.Context, out *outcome, q Question) bool {
	a.asking.Lock()
	defer a.asking.Unlock()
	answer, err := a.standing, ctx.Err()
	if err == nil && answer == No && a.options.Ask != nil {
		answer, err = a.options.Ask(ctx, q)
	}
	if answer == All || answer == Quit {
		a.standing = answer
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
