package apply

import (
	"context"

	"deployster/plan"
	"deployster/protocol"
)

// shutdownPhase runs all planned shutdown_first actions before everything else:
// one at a time, dependants first. What is planned for a resource that may
// change is part of it: a dependant of what will be updated always may. It
// returns an outcome only when one fails, and then nothing else may run.
func (r *run) shutdownPhase(ctx context.Context) []outcome {
	for _, addr := range r.plan.DependantsFirst() {
		step := r.plan.Resources[addr]
		if step.Shutdown == nil {
			continue
		}
		if ctx.Err() != nil {
			return []outcome{{addr: addr, report: ResourceReport{Status: Interrupted,
				Planned: names(step.Actions), NotAttempted: names(step.Actions), Reason: "interrupted before " + step.Shutdown.Name}}}
		}
		out := outcome{addr: addr, report: ResourceReport{Planned: names(step.Actions)}}
		if !r.shutdownOne(ctx, step, &out) {
			out.report.NotAttempted = out.report.Planned
			return []outcome{out}
		}
	}
	return nil
}

// shutdownOne checks one resource before it shuts it down, as before any action.
func (r *run) shutdownOne(ctx context.Context, step *plan.Step, out *outcome) bool {
	in, err := r.input(step, out.addr, step.Config)
	if err != nil {
		out.fail(failedConfig, err)
		return false
	}
	answer, err := r.exec.State(r.work, step.Target(out.addr), step.Init, in)
	if err != nil {
		r.failQuery(out, err, answer)
		return false
	}
	if reached(step, answer) || answer.ShutdownFirst == nil {
		return true // its own turn comes, and looks again
	}
	if !r.permitted(step, out, answer) {
		return false
	}
	if !sameCommand(answer.ShutdownFirst.Command, step.Shutdown.Command) || answer.ShutdownFirst.Name != step.Shutdown.Name {
		out.drifted(r.differences(step, out.addr, answer))
		return false
	}
	return r.runShutdown(ctx, step, out, in, answer, false)
}

// runShutdown runs the shutdown_first action of an answer, if the user has not
// interrupted meanwhile.
func (r *run) runShutdown(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer, late bool) bool {
	action := *answer.ShutdownFirst
	if out.interrupted(ctx, action, answer.Actions) {
		return false
	}
	ok := r.runAction(step, out, in, answer.StaleState, action, -1)
	report := ShutdownReport{Resource: out.addr, Action: action.Name, Status: OK, Late: late}
	if !ok {
		report.Status = out.report.Status
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shutdown = append(r.shutdown, report)
	r.stopped[out.addr] = true
	return ok
}

func (r *run) isStopped(addr string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped[addr]
}
