package apply

import (
	"context"
	"slices"
	"sync"

	"deployster/apply/compare"
	"deployster/apply/report"
	"deployster/plan"
	"deployster/protocol"
)

// Question is what a person is prompted for before something is done.
type Question struct {
	Address string
	// Now is what is to be done, as a plan made now would show it.
	Now *plan.Step
	// Late reports that the plan could not show this: the resource was deferred,
	// or might change.
	Late bool
	// Action is the action that the question covers; nil = all that is to be done.
	Action *protocol.Action
}

// Answer is what a person reports.
type Answer int

// The answers.
const (
	No   Answer = iota
	Yes         // to this
	All         // yes to this and to all later questions
	Quit        // no to this and to all later questions
)

// String returns the word that a person types.
func (a Answer) String() string { return [...]string{"no", "yes", "all", "quit"}[a] }

// approvals holds what people have approved, and prompts them. Many goroutines
// use it.
type approvals struct {
	options Options

	mu    sync.Mutex // guards given
	given map[*plan.Step]compare.Approved

	asking   sync.Mutex // one question at a time; guards standing
	standing Answer     // All or Quit, once a person has answered that
}

// of returns what may be run for a step: what the plan showed, until a person has
// approved something else.
func (a *approvals) of(step *plan.Step) compare.Approved {
	a.mu.Lock()
	defer a.mu.Unlock()
	if given, ok := a.given[step]; ok {
		return given
	}
	return compare.Shown(step)
}

func (a *approvals) set(step *plan.Step, found protocol.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given[step] = compare.Approved{Actions: found.Actions, Shutdown: found.ShutdownFirst, Confirmed: true,
		Removal: step.Intent() == protocol.Absent}
}

// forget prompts about a resource whose entry is only removed from the state file.
func (a *approvals) forget(ctx context.Context, step *plan.Step, out *outcome) bool {
	if a.options.Confirm == ConfirmPlan || slices.Contains(a.options.Kinds, plan.Forget) {
		return true
	}
	return a.ask(ctx, out, Question{Address: out.Addr, Now: step})
}

// ask prompts a person, one question at a time. If the answer is "no", the outcome reports it.
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
	left := out.Report.Planned[min(len(out.Report.Completed), len(out.Report.Planned)):]
	switch {
	case ctx.Err() != nil:
		out.Report.Status, out.Report.Reason, out.Report.NotAttempted = Interrupted, "interrupted at the approval prompt", left
		return false
	case err == nil && (answer == Yes || answer == All):
		return true
	case err != nil:
		out.decline("not approved: " + err.Error())
	default:
		out.decline("not approved")
	}
	out.Report.NotAttempted = left
	return false
}

// decline marks a resource as not approved. What does not depend on it continues.
func (o *outcome) decline(why string) {
	o.declined = true
	o.Report.Status, o.Report.Reason, o.Report.NotAttempted = NotStarted, why, o.Report.Planned
	if len(o.Report.Completed) > 0 {
		o.Report.Status, o.Report.Failed = Error, report.FailedApproval
	}
}
