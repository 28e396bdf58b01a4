package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/apply/compare"
	"deployster/apply/fresh"
	"deployster/apply/report"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// actionKey returns the idempotency key of an action: the same when this action of
// this plan is tried again, and different from that of any other action of any
// project. Actions of one name are counted from the end of the list, because the end
// stays the same when the first actions are done.
func actionKey(lineage, plan, addr string, a protocol.Action, at place) string {
	which := 0
	for _, b := range at.after {
		if b.Name == a.Name {
			which++
		}
	}
	key := fmt.Sprintf("%s/%s/%s/%s/%d", lineage, plan, addr, a.Name, which)
	if at.guard != "" {
		key += "/" + at.guard // after an undo, the repeated action is another one
	}
	switch {
	case at.late:
		return key + "/late" // it may be the second time that the action runs
	case at.first:
		return key + "/first"
	}
	return key
}

// kindOf returns the kind of the objects of a step; without one, their image.
func kindOf(step *plan.Step) string { return cmp.Or(step.Init.Kind, step.Type) }

// podOf returns the name of the Pod of an action alone; "" = it has none.
func (r *stepRunner) podOf(step *plan.Step, a protocol.Action, key string) string {
	shared := step.Init.Worker != nil && step.Settings.Workers != runner.NoWorkers && a.Image == "" && a.Entrypoint == ""
	if r.options.Pod == nil || shared || !step.Settings.Host.InCluster() {
		return ""
	}
	return r.options.Pod(key)
}

// resumes reports whether a killed run of this plan had started a resource, and the answer
// now needs just the rest of the actions that were shown.
func (r *stepRunner) resumes(step *plan.Step, addr string, answer protocol.Answer) bool {
	u, started := r.prior.Unsettled[addr]
	return started && u.Plan == r.plan.ID && compare.Shown(step).Rest(answer)
}

// completed reports whether a killed run of this plan has finished a resource: its
// actions are not run again.
func (r *stepRunner) completed(addr string) bool {
	hash, done := r.died.Done[addr]
	if step := r.plan.Resources[addr]; hash == "" && (step.Change() == plan.Replace || step.OtherObject) {
		return false // only the old object was destroyed, or its entry released
	}
	return done && r.prior.Pin(addr) == hash
}

// endedBefore reports whether a killed run of this plan had destroyed the old object of a
// resource: what exists now is not the old object any more.
func (r *stepRunner) endedBefore(addr string) bool {
	hash, done := r.died.Done[addr]
	if done && hash == "" {
		r.facts.SetGone(addr)
	}
	return done
}

// changedSince refuses a resource that a killed run had finished, and that is no longer
// as that run left it.
func (o *outcome) changedSince() {
	o.Report.NotAttempted = o.Report.Planned
	o.fail(report.FailedState, fresh.Stale("it was done by the run that died, and was changed since", whatNow))
}

// Resumed returns the addresses that a killed run of the plan has done, sorted, and
// whether there was such a run.
func Resumed(p *plan.Plan, s state.Snapshot) (done []string, resumed bool) {
	died, resumed := s.Died(p.ID)
	return slices.Sorted(maps.Keys(died.Done)), resumed
}
