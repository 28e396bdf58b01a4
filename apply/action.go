package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deployster/apply/compare"
	"deployster/apply/entries"
	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// act runs the actions in order, until one fails or the user interrupts.
func (r *stepRunner) act(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer) bool {
	for i, action := range answer.Actions {
		if out.interrupted(ctx, action, answer.Actions[i:]) {
			return false
		}
		if !r.approveAction(ctx, step, out, in, answer, action) {
			return false
		}
		if !r.awaitRoom(ctx, step, out, in, action, answer.Actions[i:]) {
			return false
		}
		at := place{after: answer.Actions[i+1:], stale: answer.StaleState}
		if !r.guard(ctx, step, out, in, action, &at) {
			out.Report.NotAttempted = report.Names(answer.Actions[i:])
			return false
		}
		if at.guard == "" && out.inBatch(step, action) {
			at.batch = r.batches.Join(ctx, out.batchGroup, action.Name, step.Init.Batch.Max, out.leaveBatch)
			if at.batch == nil && out.interrupted(ctx, action, answer.Actions[i:]) {
				return false
			}
		}
		if i == 0 && answer.ShutdownFirst == nil {
			at.memory = answer.Memory
		}
		if !r.runAction(step, out, in, action, at) {
			if !out.declined {
				out.Report.NotAttempted = report.Names(answer.Actions[i+1:])
			}
			return false
		}
		out.Report.Completed = append(out.Report.Completed, action.Name)
	}
	return true
}

// awaitRoom waits until the disk has room for the outcome of an action. left are the actions that are not started otherwise.
func (r *stepRunner) awaitRoom(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, a protocol.Action,
	left []protocol.Action) bool {
	err := r.journal.AwaitSpace(ctx, out.Addr, a.Name, entries.Bytes(step, in))
	switch {
	case err == nil:
		return true
	case !out.interrupted(ctx, a, left):
		out.failJournal(err)
	}
	return false
}

// place reports where an action is among the actions of its resource.
type place struct {
	after       []protocol.Action // the actions after it
	first, late bool              // it is shutdown_first; it runs only right before the others
	stale       json.RawMessage   // the state before the actions; nil = there is no object
	memory      json.RawMessage   // of the answer, for the first action: recorded before that starts
	guard       string            // the key of the armed group that undoes it unless that is confirmed; "" = none
	batch       *turns.Batch      // it is carried out together with the actions of others; nil = alone
}

// runAction runs one action between two durable records: its start is recorded
// before it can have any effect.
func (r *stepRunner) runAction(step *plan.Step, out *outcome, in protocol.StateInput, a protocol.Action, at place) bool {
	if out.held(r.hosts.Begin(turns.HostName(step))) {
		at.batch.Withdraw()
		return false
	}
	creates := in.Intent == protocol.Present && (at.stale == nil || a.Destructive)
	if out.incomplete != nil {
		out.incomplete.Adopted = at.stale != nil && !r.queries.Brought(step) // until a create ends well
	}
	key := actionKey(r.prior.Lineage, r.plan.ID, cmp.Or(out.Node, out.Addr), a, at)
	start := state.Start{Address: out.Addr, Action: a.Name, Key: key, Incomplete: out.incomplete, Remembers: step.Init.Memory,
		Returns: entries.Bytes(step, in), Subscribers: r.entries.Subscribers(out.Addr), Memory: at.memory,
		Another: r.queries.Releases(step, out.Addr)}
	if err := r.journal.ActionStarted(start); err != nil {
		at.batch.Withdraw()
		out.failJournal(err)
		return false
	}
	out.begin(a.Name, r.facts)
	if at.memory != nil {
		r.facts.SetMemory(out.Addr, at.memory)
	}
	r.facts.SetActed(out.Addr, creates)
	// The end is recorded as soon as it is known, while other clients can still find it out: so it is never lost.
	recorded, jerr := false, error(nil)
	record := func(result runner.Result, err error) error {
		recorded = true
		memory, silent := typeclient.Said(step.Init, result)
		jerr = r.journal.ActionEnded(out.Addr, a.Name, state.End{Exit: result.ExitCode, Reason: reasonOf(err), Memory: memory})
		if out.silent = silent; memory != nil {
			r.facts.SetMemory(out.Addr, memory)
		}
		return jerr
	}
	r.facts.TellMemory(&in, out.Addr)
	target, leads := step.Target(out.Addr), false
	target.Guard = at.guard
	target.Batch, leads = at.batch.Begin()
	r.options.event(ActionStarted{Address: out.Addr, Action: a.Name, Description: a.Description, Host: turns.HostName(step),
		Pod: r.podOf(step, a, key), First: at.first, Late: at.late, Together: at.batch.Size(), Leads: leads, Kind: kindOf(step)})
	began := r.options.Now()
	result, err := r.exec.ActNotify(r.work, target, step.Init, a,
		protocol.ActionInput{StateInput: in, Action: a.Name, StaleState: at.stale, IdempotencyKey: key,
			ShownEffects: r.approvals.of(step).EffectsOf(a)}, record)
	out.end(a.Name, err)
	at.batch.End(diag.Is[*runner.UnknownError](err))
	r.options.event(ActionEnded{Address: out.Addr, Action: a.Name, Host: turns.HostName(step), Took: r.options.Now().Sub(began), Err: err})
	if !recorded && diag.Is[*runner.UnknownError](err) {
		// It may still run. The journal keeps an action without an end, and the
		// next apply waits for it.
		r.journal.GiveUp(out.Addr, a.Name)
		out.fail(a.Name, err)
		out.Report.Status = Unknown
		return false
	}
	switch {
	case recorded:
	case err != nil && !step.Publishes: // the error of a publish reports it itself
		jerr = r.journal.ActionEnded(out.Addr, a.Name, state.End{NotBegun: true, Reason: err.Error()})
	default:
		_ = record(result, err) // its program was never started; record sets jerr
	}
	if jerr != nil {
		out.failJournal(jerr)
		return false
	}
	if err == nil {
		return true
	}
	out.fail(a.Name, err)
	if errors.Is(err, errAborted) {
		out.Report.Status = Interrupted
	}
	return false
}

// verify queries the state after the actions: it must be what the step needs, and contain the
// forecast. It reports whether another attempt may reach that, and whether it is reached.
func (r *stepRunner) verify(step *plan.Step, out *outcome, in protocol.StateInput, before protocol.Answer,
	sensitive []string) (found observe.Observation, again, ok bool) {
	r.options.event(Checking{Address: out.Addr, After: true})
	r.facts.TellMemory(&in, out.Addr)
	in.After, in.Refresh, in.Changed, in.Applied = out.Report.Completed, false, nil, nil
	found = r.queries.State(step, out.Addr, in, sensitive)
	if found.Err != nil {
		out.failQuery(found.Err)
		return found, true, false
	}
	answer := found.Answer
	if !reached(found) {
		want := protocol.Valid
		if step.Intent() == protocol.Absent {
			want = protocol.Missing
		}
		d := diag.Errorf("Still not up to date after its actions", "expected %s, got %s", want, answer.Status)
		if len(answer.Actions) > 0 {
			d.Detail += fmt.Sprintf(" with the actions [%s]", compare.Spell(answer.Actions))
		}
		out.fail(report.FailedState, d)
		d.Detail += ". All its actions ended with exit code 0, so this is most likely a fault of its image. The previous record is kept."
		return found, true, false
	}
	if missing := compare.Unforecast(before, answer); missing != "" {
		out.fail(report.FailedState, diag.Errorf("The state is not what the image forecast", "%s. This is a fault of its image.", missing))
		return found, false, false
	}
	return found, false, true
}
