package apply

import (
	"context"

	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/plan"
	"deployster/protocol"
)

// shutdownPhase runs all planned shutdown_first actions before everything else: one at
// a time, dependants first. That includes those of resources that may change, as every
// dependant of an updated resource may. It returns false when an action fails or
// is not approved: then nothing else may run, as all other actions must come after all
// shutdowns.
func (r *run) shutdownPhase(ctx context.Context) bool {
	for _, addr := range r.plan.DependantsFirst() {
		step := r.plan.Resources[addr]
		if step.Answer().Shutdown == nil {
			continue
		}
		out := outcome{Ended: report.Ended{Addr: addr}}
		out.Report.Host, out.Report.Planned = turns.HostName(step), report.Names(step.Answer().Actions)
		if ctx.Err() != nil {
			out.Report.Status, out.Report.Reason = Interrupted, "interrupted before "+step.Answer().Shutdown.Name
		} else if r.steps.shutdownOne(ctx, step, &out) {
			continue
		}
		out.Report.NotAttempted = out.Report.Planned
		if out.Failed() {
			r.stops.fail(&out)
		} else if out.declined {
			r.stops.declined = addr
		}
		r.options.event(ResourceEnded{Address: addr, Change: step.Shown(), Report: out.Report})
		r.ended = append(r.ended, out.Ended)
		return false
	}
	return true
}

// shutdownOne checks one resource before its shutdown, as before any action. It returns
// false when the resource, and with it the apply, must not continue.
func (r *stepRunner) shutdownOne(ctx context.Context, step *plan.Step, out *outcome) bool {
	in, err := r.queries.Request(step, out.Addr, step.Config, step.Unknown)
	if err != nil {
		out.fail(report.FailedConfig, err)
		return false
	}
	out.incomplete = r.entries.Incomplete(step, out.Addr, in, step.Sensitive)
	for {
		r.options.event(Checking{Address: out.Addr})
		found := r.queries.State(step, out.Addr, in, step.Sensitive)
		if found.Err != nil {
			out.failQuery(found.Err)
			return false
		}
		answer := found.Answer
		if reached(found) || answer.ShutdownFirst == nil {
			return true // nothing needs a shutdown; perform queries the state again
		}
		answer, ok := r.permitted(step, out, answer)
		if !ok {
			return false
		}
		asked, ok := r.approve(ctx, step, out, in, step.Sensitive, answer)
		if !ok {
			return false
		}
		if !asked {
			return r.runShutdown(ctx, step, out, in, answer, false)
		}
	}
}

// runShutdown runs the shutdown_first action of an answer, if the user has not interrupted
// meanwhile. It keeps the answer of the image after that: if a later answer differs from it,
// the shutdown is not the cause.
func (r *stepRunner) runShutdown(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer,
	late bool) bool {
	action := *answer.ShutdownFirst
	if out.interrupted(ctx, action, answer.Actions) || !r.approveAction(ctx, step, out, in, answer, action) {
		return false
	}
	if !r.awaitRoom(ctx, step, out, in, action, answer.Actions) {
		return false
	}
	at := place{first: true, late: late, memory: answer.Memory, stale: answer.StaleState}
	ok := r.runAction(step, out, in, action, at)
	ended := ShutdownReport{Resource: out.Addr, Action: action.Name, Status: OK, Late: late}
	var after *protocol.Answer
	if !ok {
		ended.Status = out.Report.Status
	} else if !late {
		r.facts.TellMemory(&in, out.Addr)
		if o := r.queries.State(step, out.Addr, in, step.Sensitive); o.Err == nil {
			after = &o.Answer
		}
	}
	r.facts.SetShutdown(out.Addr, after)
	r.shutdownMu.Lock()
	defer r.shutdownMu.Unlock()
	r.shutdowns = append(r.shutdowns, ended)
	return ok
}
