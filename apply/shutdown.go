package apply

import (
	"context"

	"deployster/plan"
	"deployster/plan/unknowns"
	"deployster/protocol"
)

// shutdownPhase runs all planned shutdown_first actions before everything else:
// one at a time, dependants first. What is planned for a resource that may
// change is part of it: a dependant of what will be updated always may. It is
// false when one does not end well or is not approved, and then nothing else may
// run: all that follows was to come after it.
func (r *run) shutdownPhase(ctx context.Context) bool {
	for _, addr := range r.plan.DependantsFirst() {
		step := r.plan.Resources[addr]
		if step.Shutdown == nil {
			continue
		}
		out := outcome{addr: addr, report: ResourceReport{Host: hostName(step), Planned: names(step.Actions)}}
		if ctx.Err() != nil {
			out.report.Status, out.report.Reason = Interrupted, "interrupted before "+step.Shutdown.Name
		} else if r.shutdownOne(ctx, step, &out) {
			continue
		}
		out.report.NotAttempted = out.report.Planned
		r.event(ResourceEnded{Address: addr, Change: step.Shown(), Report: out.report})
		r.ended = append(r.ended, out)
		return false
	}
	return true
}

// shutdownOne checks one resource before it shuts it down, as before any action.
// It is false when the resource, and with it the apply, must go no further.
func (r *run) shutdownOne(ctx context.Context, step *plan.Step, out *outcome) bool {
	in, err := r.input(step, out.addr, step.Config)
	if err != nil {
		out.fail(failedConfig, err)
		return false
	}
	unknowns.Tell(&in, step.Unknown)
	out.incomplete = r.incomplete(step, out.addr, in, step.Sensitive)
	for {
		r.event(Checking{Address: out.addr})
		answer, err := r.exec.State(r.work, step.Target(out.addr), step.Init, in)
		if err != nil {
			out.failQuery(err)
			return false
		}
		if reached(step, answer) || answer.ShutdownFirst == nil {
			return true // nothing is to be stopped; its own turn comes, and looks again
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
// meanwhile. What the image says after that is remembered: what differs from it at the
// resource's own turn has another cause than the shutdown.
func (r *run) runShutdown(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer,
	late bool) bool {
	action := *answer.ShutdownFirst
	if out.interrupted(ctx, action, answer.Actions) || !r.approveAction(ctx, step, out, in, answer, action) {
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
		if found, err := r.exec.State(r.work, step.Target(out.addr), step.Init, in); err == nil {
			after = &found
		}
	}
	r.facts.SetShutdown(out.addr, after)
	r.shutdownMu.Lock()
	defer r.shutdownMu.Unlock()
	r.shutdowns = append(r.shutdowns, report)
	return ok
}
