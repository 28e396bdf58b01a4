package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/apply/entries"
	"deployster/apply/guarding"
	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
)

// Reverted is the reason of a resource whose actions were undone.
const Reverted = report.Reverted

// heldSteps are the resources whose groups of guarded actions are not settled, by address.
type heldSteps struct {
	mu    sync.Mutex
	steps map[string]*heldStep
}

// heldStep is a resource as it ended, and what is recorded of it if its group is confirmed.
type heldStep struct {
	out    outcome
	step   *plan.Step
	start  time.Time
	record func(*outcome) // nil = it has failed
}

func (h *heldSteps) of(addr string) *heldStep {
	if h.steps == nil {
		h.steps = map[string]*heldStep{}
	}
	if h.steps[addr] == nil {
		h.steps[addr] = &heldStep{}
	}
	return h.steps[addr]
}

// add notes how a resource ended.
func (h *heldSteps) add(out *outcome, step *plan.Step, start time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.of(out.Addr)
	held.out, held.step, held.start = *out, step, start
}

// take returns a resource that a group holds; nil = nothing was begun on it.
func (h *heldSteps) take(addr string) *heldStep {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.steps[addr]
	delete(h.steps, addr)
	return held
}

// guard prepares an action of a resource on a host that undoes guarded actions, and reports whether
// it may begin.
func (r *stepRunner) guard(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, a protocol.Action, at *place) bool {
	group := r.groups.Of(out.Addr)
	if group == nil {
		if host := step.Settings.Host; a.Guarded && host != nil && host.UndoUnlessReached != 0 {
			out.decline("its action is guarded, which the plan could not show: plan and apply again")
			return false
		}
		return true
	}
	var err error
	at.guard, err = group.Begin(ctx, guarding.Member{Target: step.Target(out.Addr), Type: step.Init,
		Input: protocol.ActionInput{StateInput: in, Action: a.Name, StaleState: at.stale}}, a.Guarded, r.protected)
	switch {
	case errors.Is(err, guarding.ErrAfter):
		out.decline(err.Error())
		out.after = true
		return false
	case err != nil:
		out.fail(a.Name, err)
		return false
	}
	return true
}

// protected returns a resource as it is protected before its turn; nil = what it does is not known yet.
func (r *stepRunner) protected(addr string) *guarding.Member {
	step := r.plan.Resources[addr]
	if step.Reverts() == 0 || len(step.Unknown) > 0 {
		return nil
	}
	actions := step.Answer().Actions
	if old := step.Old(); old != nil {
		actions = slices.Concat(old.Answer().Actions, actions)
	}
	in, err := r.queries.Request(step, addr, step.Config, nil)
	if err != nil {
		return nil // its own turn has the error
	}
	return &guarding.Member{Target: step.Target(addr), Type: step.Init, Input: protocol.ActionInput{StateInput: in,
		Action: actions[0].Name, StaleState: step.Answer().Stale}}
}

// recordHeld records the reached state of a resource, unless its group has yet to be confirmed: until
// then only those of its dependants that are in the group see it.
func (r *stepRunner) recordHeld(step *plan.Step, out *outcome, in protocol.StateInput, found entries.Found) {
	if !r.groups.Of(out.Addr).Holds(out.Addr) {
		r.record(step, out, in, found)
		return
	}
	if step.Intent() != protocol.Absent {
		r.show(step, out, in, found)
	}
	r.held.mu.Lock()
	defer r.held.mu.Unlock()
	r.held.of(out.Addr).record = func(o *outcome) { r.record(step, o, in, found) }
}

// settle has a group confirmed or undone, and returns how its resources ended with that.
func (r *stepRunner) settle(g *guarding.Group) (ended []report.Ended) {
	if !g.Armed() {
		return nil
	}
	keep, after := g.Whole(), g.After()
	r.options.event(Settling{Host: g.Host(), Resources: g.Resources(), Keep: keep})
	verdict, err := g.Decide(r.work)
	for _, addr := range g.Resources() {
		held := r.held.take(addr)
		if held == nil || held.step == nil {
			continue
		}
		out := &held.out
		switch {
		case err != nil && out.Acted:
			r.facts.Lose(addr)
			out.undone(diag.From("Whether it was undone is unknown", err)[0].Detail, keep)
			out.Report.Status = Unknown
		case verdict.Verdict == runner.Confirmed && held.record != nil:
			held.record(out)
		case verdict.Verdict == runner.Confirmed, !out.Acted:
		default:
			r.facts.Lose(addr)
			out.undone(why(verdict, keep, after), keep)
		}
		r.options.event(ResourceEnded{Address: addr, Change: held.step.Shown(), Report: out.Report, Took: r.options.Now().Sub(held.start)})
		ended = append(ended, out.Ended)
	}
	return ended
}

// why reports why a group was undone.
func why(s runner.Settlement, keep bool, after string) string {
	switch {
	case s.Verdict != runner.Undone:
		return "its undo has not succeeded yet, and is repeated there: " + diag.Visible(s.Failure)
	case keep:
		return fmt.Sprintf("the host could not be reached again within %s", after)
	}
	return "not all of its group was done"
}

// undone notes that the actions of a resource were undone.
func (o *outcome) undone(why string, keep bool) {
	if o.Failed() && !keep {
		o.Report.Reason = strings.TrimSuffix(o.Report.Reason, ".") + "; " + Reverted
		if o.Problem != nil {
			o.Problem.Detail = strings.TrimSpace(o.Problem.Detail + " What its actions did was undone: " + why + ".")
		}
		return
	}
	last := cmp.Or(o.Report.Failed, Reverted)
	if n := len(o.Report.Completed); n > 0 {
		last = o.Report.Completed[n-1]
	}
	o.fail(last, diag.Errorf("Its actions were undone", "%s. The host has what it had before.", why))
	o.Report.Reason = Reverted + ": " + why
}

// settled replaces how a resource ended.
func (r *run) settled(end report.Ended) {
	i := slices.IndexFunc(r.ended, func(e report.Ended) bool { return e.Node == end.Node })
	if i >= 0 {
		r.ended[i] = end
	}
	if end.Failed() && turns.HostOf(r.plan, end.Addr) != "" {
		r.stops.fail(&outcome{Ended: end})
	}
}

// settleOpen settles the groups that an interrupt or a failure has left armed.
func (r *run) settleOpen() {
	for _, g := range r.groups.Open() {
		for _, end := range r.steps.settle(g) {
			r.settled(end)
		}
	}
}
