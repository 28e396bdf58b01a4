package apply

import (
	"context"
	"errors"

	"deployster/apply/entries"
	"deployster/apply/guarding"
	"deployster/apply/report"
	"deployster/plan"
	"deployster/protocol"
)

// guard prepares an action of a resource on a host that undoes guarded actions, and reports whether
// it may begin.
func (r *stepRunner) guard(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, a protocol.Action, at *place) bool {
	var err error
	at.guard, err = r.groups.Begin(ctx, step, out.Addr, a.Guarded,
		protocol.ActionInput{StateInput: in, Action: a.Name, StaleState: at.stale},
		func(step *plan.Step, addr string) (protocol.StateInput, error) {
			return r.queries.Request(step, addr, step.Config, nil)
		})
	if out.after = errors.Is(err, guarding.ErrAfter); out.after {
		out.decline(err.Error())
	} else if err != nil {
		out.fail(a.Name, err)
	}
	return err == nil
}

// recordHeld records the reached state of a resource, unless its group has yet to be confirmed: until
// then only those of its dependants that are in the group see it.
func (r *stepRunner) recordHeld(step *plan.Step, out *outcome, in protocol.StateInput, found entries.Found) {
	if !r.groups.Of(out.Addr).Holds(out.Addr) {
		r.record(step, out, in, found)
		return
	}
	if step.Intent() != protocol.Absent {
		r.facts.SetReached(out.Addr, viewOf(step, in, found), found.Sensitive)
	}
	r.groups.Of(out.Addr).WhenKept(out.Addr, func(e report.Ended) report.Ended {
		o := outcome{Ended: e}
		r.record(step, &o, in, found)
		return o.Ended
	})
}

// settle has a group confirmed or undone, and returns how its resources ended with that.
func (r *stepRunner) settle(g *guarding.Group) (ended []report.Ended) {
	if !g.Armed() {
		return nil
	}
	r.options.event(Settling{Host: g.Host(), Resources: g.Resources(), Keep: g.Whole()})
	for _, h := range g.Conclude(r.work, r.options.Hide, r.facts.Lose) {
		r.options.event(ResourceEnded{Address: h.Addr, Change: h.Change, Report: h.Report, Took: r.options.Now().Sub(h.Start)})
		ended = append(ended, h.Ended)
	}
	return ended
}

// settled replaces how a resource ended.
func (r *run) settled(end report.Ended) {
	guarding.Replace(r.ended, end)
	if end.Failed() {
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
