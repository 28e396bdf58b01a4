package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deployster/apply/compare"
	"deployster/apply/fresh"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Names in ResourceReport.Failed that are not actions.
const (
	failedConfig  = "config"
	failedState   = "state"
	failedJournal = "journal"

	failedInternal = "internal" // a fault of this program
	failedApproval = "approval" // its next action was not approved

	failedPrecondition  = "precondition"
	failedPostcondition = "postcondition"
)

// perform does the step of one resource: it evaluates the config, asks the state, runs the
// planned actions, and asks the state again, which must now be as the step needs it.
func (r *run) perform(ctx context.Context, step *plan.Step, out *outcome) {
	step, ok := lateHosts{r}.of(step, out)
	if !ok {
		return
	}
	if !r.preconditions(step, out) {
		return
	}
	config, sensitive := step.Config, step.Sensitive
	if step.Flexible() {
		if config, sensitive, ok = r.resolve(step, out); !ok {
			return
		}
	}
	if !(identities{r}).free(step, out, config) {
		return
	}
	in, err := r.request(step, out.addr, config, nil)
	if err != nil {
		out.fail(failedConfig, err)
		return
	}
	again := r.facts.Answered(out.addr)
	doubt := again == nil && (doubts{r}).of(out.addr)
	if step.Settled() && !r.recheck[out.addr] && !in.Refresh && !doubt {
		out.report.Status = Unchanged
		found, seen := protocol.Answer{State: step.Answer().State, Memory: step.Answer().Memory}, r.plan.Created
		if step.Unrefreshed() {
			seen = r.prior.Resources[out.addr].ValidAt
		}
		if again != nil {
			found, seen = *again, r.options.Now()
		}
		r.record(step, out, in, found, sensitive, seen)
		return
	}
	if !step.Flexible() && !r.sameConfig(step, out) {
		return
	}
	out.incomplete = r.incomplete(step, out.addr, in, sensitive)
	retriesOf(r.work, r.manifest.Resource(out.addr), r.options.event).do(ctx, out, func() (again bool) {
		return r.attempt(ctx, step, out, in, sensitive)
	})
}

// attempt asks the state of a resource, runs its actions, and asks the state again. It
// reports whether another attempt may help where this one has failed.
func (r *run) attempt(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, sensitive []string) (again bool) {
	free := r.semaphores.Take(ctx, r.manifest.Resource(out.addr))
	if free == nil {
		out.report.Status, out.report.Reason = Interrupted, "interrupted while it waited for a semaphore"
		out.report.NotAttempted = out.report.Planned
		return false
	}
	defer free()
	out.enterBatch(r.batches, step, r.options.Confirm)
	defer func() { out.leaveBatch() }()
	answer, ok := r.confirmState(ctx, step, out, in, sensitive)
	if !ok {
		return out.again // another attempt may help only if an earlier one has run an action
	}
	if answer.ShutdownFirst != nil && !r.runShutdown(ctx, step, out, in, answer, true) {
		out.report.NotAttempted = out.report.Planned
		return false
	}
	if now := step.WithAnswer(in.Config, sensitive, answer, nil).Shown(); step.Change() == plan.Deferred || step.Early && now != step.Shown() {
		out.report.Became = now
	}
	if !r.act(ctx, step, out, in, answer) {
		return true
	}
	reached, again, ok := r.verify(step, out, in, answer)
	if ok {
		out.report.Status = OK
		r.record(step, out, in, reached, sensitive, r.options.Now())
	}
	return again
}

// reached reports whether an answer is what the step must reach.
func reached(step *plan.Step, a protocol.Answer) bool {
	if step.Intent() == protocol.Absent {
		return a.Status == protocol.Missing
	}
	return a.Status == protocol.Valid
}

// resolve evaluates a config again with the real states of this apply.
func (r *run) resolve(step *plan.Step, out *outcome) (json.RawMessage, []string, bool) {
	resolved, diags := r.manifest.Config(out.addr, r.scope(out.addr))
	if diags.HasErrors() {
		out.fail(failedConfig, firstError(diags))
		return nil, nil, false
	}
	for _, pointer := range slices.Sorted(maps.Keys(resolved.Unknown)) {
		refs := resolved.Unknown[pointer]
		out.fail(failedConfig, diag.Errorf("A value is still not known",
			"%s in its config comes from %s, which is not in the state that was reached. `deployster show` prints that state.",
			pointer, refs))
		return nil, nil, false
	}
	violations := r.exec.CheckConfig(step.Init, resolved.Value, nil)
	if found := subject.Violations(r.manifest, out.addr, violations); len(found) > 0 {
		out.fail(failedConfig, found[0])
		return nil, nil, false
	}
	sensitive := observe.HiddenInConfig(r.exec, step.Init, resolved)
	if r.options.Secret != nil && len(sensitive) > 0 {
		r.options.Secret(secret.Values(resolved.Value, sensitive))
	}
	return resolved.Value, sensitive, true
}

// sameConfig reports whether a config that the plan knew is still what the manifest
// gives with the present states.
func (r *run) sameConfig(step *plan.Step, out *outcome) bool {
	if step.Intent() == protocol.Absent || len(r.before[out.addr]) == 0 {
		return true
	}
	now, diags := r.manifest.Config(out.addr, r.scope(out.addr))
	if !diags.HasErrors() && string(now.Value) == string(step.Config) {
		return true
	}
	out.report.NotAttempted = out.report.Planned
	if diags.HasErrors() {
		out.fail(failedConfig, firstError(diags))
		return false
	}
	const why = "its config is not what the plan showed, because a state that it uses has changed"
	sensitive := slices.Concat(step.Sensitive, observe.HiddenInConfig(r.exec, step.Init, now))
	out.report.Stale = compare.Documents("config", step.Config, now.Value, compare.Secrets{Hidden: sensitive, Hide: r.options.Hide})
	out.fail(failedConfig, fresh.Stale(why, compare.SideBySide(out.report.Stale)+whatNow))
	out.report.Reason = "plan is stale: " + why
	return false
}

// act runs the actions in order, until one fails or the user interrupts.
func (r *run) act(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, answer protocol.Answer) bool {
	for i, action := range answer.Actions {
		if out.interrupted(ctx, action, answer.Actions[i:]) {
			return false
		}
		if !r.approveAction(ctx, step, out, in, answer, action) {
			return false
		}
		if !awaitRoom(ctx, r, step, out, in, action, answer.Actions[i:]) {
			return false
		}
		at := place{after: answer.Actions[i+1:]}
		if out.inBatch(step, action) {
			at.batch = r.batches.Join(ctx, out.batchGroup, action.Name, step.Init.Batch.Max, out.leaveBatch)
			if at.batch == nil && out.interrupted(ctx, action, answer.Actions[i:]) {
				return false
			}
		}
		if i == 0 && answer.ShutdownFirst == nil {
			at.memory = answer.Memory
		}
		if !r.runAction(step, out, in, answer.StaleState, action, at) {
			if !out.declined {
				out.report.NotAttempted = names(answer.Actions[i+1:])
			}
			return false
		}
		out.report.Completed = append(out.report.Completed, action.Name)
	}
	return true
}

// place says where an action is among the actions of its resource.
type place struct {
	after       []protocol.Action // the actions after it
	first, late bool              // it is shutdown_first; it runs only right before the others
	memory      json.RawMessage   // of the answer, for the first action: recorded before that starts
	batch       *turns.Batch      // it is carried out together with the actions of others; nil = alone
}

// runAction runs one action between two durable records: its start is recorded
// before it can have any effect.
func (r *run) runAction(step *plan.Step, out *outcome, in protocol.StateInput, stale json.RawMessage, a protocol.Action, at place) bool {
	if !r.stops.begin(step, out) {
		at.batch.Withdraw()
		return false
	}
	creates := in.Intent == protocol.Present && (stale == nil || a.Destructive)
	if out.incomplete != nil {
		out.incomplete.Adopted = stale != nil // until a create ends well
	}
	key := actionKey(r.prior.Lineage, r.plan.ID, cmp.Or(out.node, out.addr), a, at)
	start := state.Start{Address: out.addr, Action: a.Name, Key: key, Incomplete: out.incomplete, Remembers: step.Init.Memory,
		Returns: returns(step, in), Subscribers: r.news[out.addr], Memory: at.memory, Another: letsGo(r, step, out.addr)}
	if err := r.journal.ActionStarted(start); err != nil {
		at.batch.Withdraw()
		out.failJournal(err)
		return false
	}
	out.acted, out.running = true, a.Name
	if at.memory != nil {
		r.facts.SetMemory(out.addr, at.memory)
	}
	r.facts.SetActed(out.addr, creates)
	// The end is recorded as soon as it is known, while other clients can still find
	// it out: so it is never lost.
	recorded, jerr := false, error(nil)
	record := func(result runner.Result, err error) error {
		recorded = true
		memory, silent := typeclient.Said(step.Init, result)
		jerr = r.journal.ActionEnded(out.addr, a.Name, state.End{Exit: result.ExitCode, Reason: reasonOf(err), Memory: memory})
		if out.silent = silent; memory != nil {
			r.facts.SetMemory(out.addr, memory)
		}
		return jerr
	}
	r.facts.TellMemory(&in, out.addr)
	target := step.Target(out.addr)
	var leads bool
	target.Batch, leads = at.batch.Begin()
	r.options.event(ActionStarted{Address: out.addr, Action: a.Name, Description: a.Description, Host: hostName(step), First: at.first,
		Late: at.late, Together: at.batch.Size(), Leads: leads, Kind: cmp.Or(step.Init.Kind, target.Reference)})
	began := r.options.Now()
	result, err := r.exec.ActNotify(r.work, target, step.Init, a,
		protocol.ActionInput{StateInput: in, Action: a.Name, StaleState: stale, IdempotencyKey: key,
			ShownEffects: r.approvals.of(step).EffectsOf(a)}, record)
	out.running = ""
	at.batch.End(diag.Is[*runner.UnknownError](err))
	r.options.event(ActionEnded{Address: out.addr, Action: a.Name, Host: hostName(step), Took: r.options.Now().Sub(began), Err: err})
	if !recorded && diag.Is[*runner.UnknownError](err) {
		// It may still run. The journal keeps an action without an end, and the
		// next apply waits for it.
		r.journal.GiveUp(out.addr, a.Name)
		out.fail(a.Name, err)
		out.report.Status = Unknown
		return false
	}
	switch {
	case recorded:
	case err != nil && !step.Publishes: // the error of a publish says so itself
		jerr = r.journal.ActionEnded(out.addr, a.Name, state.End{NotBegun: true, Reason: err.Error()})
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
		out.report.Status = Interrupted
	}
	return false
}

// verify asks the state after the actions: it must be what the step needs, and contain the
// forecast. It reports whether another attempt may reach that, and whether it is reached.
func (r *run) verify(step *plan.Step, out *outcome, in protocol.StateInput, before protocol.Answer) (protocol.Answer,
	bool, bool) {
	r.options.event(Checking{Address: out.addr, After: true})
	r.facts.TellMemory(&in, out.addr)
	in.After, in.Refresh, in.Changed = out.report.Completed, false, nil
	o := r.queries.state(step, out.addr, in)
	answer, err := o.Answer, o.Err
	if err != nil {
		out.failQuery(err)
		return answer, true, false
	}
	if !reached(step, answer) {
		want := protocol.Valid
		if step.Intent() == protocol.Absent {
			want = protocol.Missing
		}
		d := diag.Errorf("Still not up to date after its actions", "expected %s, got %s", want, answer.Status)
		if len(answer.Actions) > 0 {
			d.Detail += fmt.Sprintf(" with the actions [%s]", compare.Spell(answer.Actions))
		}
		out.fail(failedState, d)
		d.Detail += ". All its actions ended with exit code 0, so this is most likely a fault of its image. The previous record is kept."
		return answer, true, false
	}
	if missing := jsondoc.Unfulfilled(before.Forecast, answer.State, before.Unknown); !before.MayDiffer && missing != "" {
		out.fail(failedState, diag.Errorf("The state is not what the image forecast", "%s. This is a fault of its image.", missing))
		return answer, false, false
	}
	return answer, false, true
}
