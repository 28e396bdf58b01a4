package apply

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"deployster/apply/compare"
	"deployster/apply/entries"
	"deployster/apply/evaluate"
	"deployster/apply/facts"
	"deployster/apply/fresh"
	"deployster/apply/guarding"
	"deployster/apply/identity"
	"deployster/apply/latehost"
	"deployster/apply/query"
	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/observe"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// stepRunner does the steps of a plan, each from its query to its record. It is safe for concurrent use.
type stepRunner struct {
	plan     *plan.Plan
	prior    state.Snapshot
	died     state.Applied
	manifest *config.Manifest
	journal  Journal
	exec     Executor
	options  Options
	work     context.Context // of running actions

	facts      *facts.Facts
	queries    *query.Queries
	entries    *entries.Entries
	identities *identity.Identities
	evaluated  evaluate.Evaluator
	late       *latehost.Hosts
	hosts      *turns.Hosts
	approvals  *approvals
	semaphores turns.Semaphores
	batches    *turns.Batches
	groups     *guarding.Groups
	recheck    map[string]bool // dependencies of resources with actions: their states are queried again

	shutdownMu sync.Mutex
	shutdowns  []ShutdownReport // of the shutdown_first actions that were run; guarded by shutdownMu
}

// resource does the step of one resource, or of its old object; out reports how that ended, and so does the event; nil = there is
// none yet.
func (r *stepRunner) resource(ctx context.Context, out *outcome) *ResourceEnded {
	start := r.options.Now()
	step := r.plan.Resources[out.Addr]
	if out.Old() {
		step = step.Old()
	}
	out.Report.Host, out.Report.Planned = turns.HostOf(r.plan, out.Addr), report.Names(step.Answer().Actions)
	switch {
	case out.Old() && r.endedBefore(out.Addr):
		out.Report.Status = Skipped
	case r.holds(step, out):
	case step.Change() == plan.Forget:
		if r.approvals.forget(ctx, step, out) {
			r.forget(step, out)
		}
	case step.Change() == plan.Left:
		out.Report.Status = Kept
	case step.Change() == plan.Valid && r.plan.Selection.RefreshOnly:
		out.Report.Status = Unchanged
	case step.Change() == plan.Record:
		r.recordFound(step, out)
	default:
		r.perform(ctx, step, out)
	}
	if out.Old() && !out.Failed() && !out.declined {
		return nil // the event is sent when the new object is done
	}
	if out.open = r.groups.Of(out.Addr).Holds(out.Addr); out.open {
		r.groups.Of(out.Addr).Hold(out.Ended, step.Shown(), start)
		return nil // the event is sent when its group is settled
	}
	return &ResourceEnded{Address: out.Addr, Change: step.Shown(), Report: out.Report, Took: r.options.Now().Sub(start)}
}

// forget removes the entry of a resource from the state file and changes nothing else. An
// object that is forgotten because it does not exist must still not exist.
func (r *stepRunner) forget(step *plan.Step, out *outcome) {
	if r.plan.Selection.RefreshOnly || step.Gone() {
		if _, ok := r.still(step, out, protocol.Missing); !ok {
			return
		}
	}
	out.Report.Status = OK
	if err := r.journal.Removed(out.Addr); err != nil {
		out.failJournal(err)
	}
}

// perform does the step of one resource: it evaluates the config, queries the state, runs the
// planned actions, and queries the state again, which must now be as the step needs it.
func (r *stepRunner) perform(ctx context.Context, step *plan.Step, out *outcome) {
	step, err := r.late.Of(step, out.Addr, whatNow)
	if err != nil {
		out.failHost(err)
		return
	}
	if !r.preconditions(step, out) {
		return
	}
	config, sensitive, ok := step.Config, step.Sensitive, true
	if step.Flexible() {
		if config, sensitive, ok = r.resolve(step, out); !ok {
			return
		}
	}
	if owner, another := r.identities.Other(step, out.Addr, config); owner != "" || another {
		out.failIdentity(owner)
		return
	}
	in, err := r.queries.Request(step, out.Addr, config, nil)
	if err != nil {
		out.fail(report.FailedConfig, err)
		return
	}
	again := r.facts.Answered(out.Addr)
	doubt := again == nil && r.queries.Doubts(out.Addr)
	if step.Settled() && !r.recheck[out.Addr] && !in.Refresh && !doubt && !query.GetsSecrets(step) {
		out.Report.Status = Unchanged
		found := entries.Found{State: step.Answer().State, Memory: step.Answer().Memory, Sensitive: sensitive, Seen: r.plan.Created}
		if step.Unrefreshed() {
			found.Seen = r.prior.Resources[out.Addr].ValidAt
		}
		if again != nil {
			found.State, found.Memory, found.Seen = again.State, again.Memory, r.options.Now()
		}
		found.Hidden = r.queries.Hidden(step, out.Addr, in.Config, found.State, sensitive)
		r.record(step, out, in, found)
		return
	}
	if !step.Flexible() && !r.sameConfig(step, out) {
		return
	}
	out.incomplete = r.entries.Incomplete(step, out.Addr, in, sensitive)
	retriesOf(r.work, r.manifest.Resource(out.Addr), r.options.event).do(ctx, out, func() (again bool) {
		return r.attempt(ctx, step, out, in, sensitive)
	})
}

// attempt queries the state of a resource, runs its actions, and queries the state again. It
// reports whether another attempt may help where this one has failed.
func (r *stepRunner) attempt(ctx context.Context, step *plan.Step, out *outcome, in protocol.StateInput, sensitive []string) (again bool) {
	free := r.semaphores.Take(ctx, r.manifest.Resource(out.Addr))
	if free == nil {
		out.Report.Status, out.Report.Reason = Interrupted, "interrupted while it waited for a semaphore"
		out.Report.NotAttempted = out.Report.Planned
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
		out.Report.NotAttempted = out.Report.Planned
		return false
	}
	now := step.WithAnswer(in.Config, sensitive, answer, nil).Shown()
	if step.Change() == plan.Deferred || step.Certainty == plan.Early && now != step.Shown() {
		out.Report.Became = now
	}
	if !r.act(ctx, step, out, in, answer) {
		return true
	}
	seen, again, ok := r.verify(step, out, in, answer, sensitive)
	if ok {
		if out.Report.Status = OK; len(out.unsure) == 0 {
			r.facts.SetApplied(out.Addr, seen.Answer.Applied)
		}
		r.recordHeld(step, out, in, r.found(seen, sensitive))
	}
	return again
}

// reached reports whether an object is as its step needs it.
func reached(o observe.Observation) bool {
	return o.Change == observe.Valid || o.Change == observe.Forget
}

// resolve evaluates a config again with the real states of this apply.
func (r *stepRunner) resolve(step *plan.Step, out *outcome) (json.RawMessage, []string, bool) {
	resolved, diags := r.manifest.Config(out.Addr, r.queries.Scope(out.Addr))
	if diags.HasErrors() {
		out.fail(report.FailedConfig, diags.FirstError())
		return nil, nil, false
	}
	for _, pointer := range slices.Sorted(maps.Keys(resolved.Unknown)) {
		refs := resolved.Unknown[pointer]
		out.fail(report.FailedConfig, diag.Errorf("A value is still not known",
			"%s in its config comes from %s, which is not in the state that was reached. `deployster show` prints that state.",
			pointer, refs))
		return nil, nil, false
	}
	violations := r.exec.CheckConfig(step.Init, resolved.Value, nil)
	if found := subject.Violations(r.manifest, out.Addr, violations); len(found) > 0 {
		out.fail(report.FailedConfig, found[0])
		return nil, nil, false
	}
	sensitive, secrets := r.queries.Sensitive(step, resolved)
	if r.options.Secret != nil && len(sensitive) > 0 {
		r.options.Secret(secrets)
	}
	return resolved.Value, sensitive, true
}

// sameConfig reports whether a config that the plan knew is still what the manifest
// gives with the present states.
func (r *stepRunner) sameConfig(step *plan.Step, out *outcome) bool {
	if step.Intent() == protocol.Absent || !r.queries.Waits(out.Addr) {
		return true
	}
	now, diags := r.manifest.Config(out.Addr, r.queries.Scope(out.Addr))
	if !diags.HasErrors() && string(now.Value) == string(step.Config) {
		return true
	}
	out.Report.NotAttempted = out.Report.Planned
	if diags.HasErrors() {
		out.fail(report.FailedConfig, diags.FirstError())
		return false
	}
	const why = "its config is not what the plan showed, because a state that it uses has changed"
	sensitive, _ := r.queries.Sensitive(step, now)
	sensitive = slices.Concat(step.Sensitive, sensitive)
	out.Report.Stale = compare.Documents("config", step.Config, now.Value, compare.Secrets{Hidden: sensitive, Hide: r.options.Hide})
	out.fail(report.FailedConfig, fresh.Stale(why, compare.SideBySide(out.Report.Stale)+whatNow))
	out.Report.Reason = "plan is stale: " + why
	return false
}
