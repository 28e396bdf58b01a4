package apply

import (
	"context"

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
		out := outcome{addr: addr, report: ResourceReport{Host: hostName(step), Planned: names(step.Answer().Actions)}}
		if ctx.Err() != nil {
			out.report.Status, out.report.Reason = Interrupted, "interrupted before "+step.Answer().Shutdown.Name
		} else if r.shutdownOne(ctx, step, &out) {
			continue
		}
		out.report.NotAttempted = out.report.Planned
		if out.failed() {
			r.stops.fail(&out)
		} else if out.declined {
			r.stops.declined = addr
		}
		r.options.event(ResourceEnded{Address: addr, Change: step.Shown(), Report: out.report})
		r.ended = append(r.ended, out)
		return false
	}
	return true
}

// shutdownOne checks one resource before its shutdown, as before any action. It returns
// false when the resource, and with it the apply, must not continue.
func (r *run) shutdownOne(ctx context.Context, step *plan.Step, out *outcome) bool {
	in, err := r.request(step, out.addr, step.Config, step.Unknown)
	if err != nil {
		out.fail(failedConfig, err)
		return false
	}
	out.incomplete = r.incomplete(step, out.addr, in, step.Sensitive)
	for {
		r.options.event(Checking{Address: out.addr})
		o := r.queries.state(step, out.addr, in)
		answer, err := o.Answer, o.Err
		if err != nil {
			out.failQuery(err)
			return false
		}
		if reached(step, answer) || answer.ShutdownFirst == nil {
			return true // nothing needs a shutdown; perform asks the state again
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
func (r *run) runShutdown(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer,
	late bool) bool {
	action := *answer.ShutdownFirst
	if out.interrupted(ctx, action, answer.Actions) || !r.approveAction(ctx, step, out, in, answer, action) {
		return false
	}
	if !awaitRoom(ctx, r, step, out, in, action, answer.Actions) {
		return false
	}
	at := place{first: true, late: late, memory: answer.Memory}
	ok := r.runAction(step, out, in, answer.StaleState, action, at)
	report := ShutdownReport{Resource: out.addr, Action: action.Name, Status: OK, Late: late}
	var after *protocol.Answer
	if !ok {
		report.Status = out.report.Status
	} else if !late {
		r.facts.TellMemory(&in, out.addr)
		if o := r.queries.state(step, out.addr, in); o.Err == nil {
			after = &o.Answer
		}
	}
	r.facts.SetShutdown(out.addr, after)
	r.shutdownMu.Lock()
	defer r.shutdownMu.Unlock()
	r.shutdowns = append(r.shutdowns, report)
	return ok
}
