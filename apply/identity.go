package apply

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/runner"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/things"
	"deployster/protocol"
)

// failedIdentity is ResourceReport.Failed of a resource that turns out to mean the thing of
// another resource, or another thing than its entry.
const failedIdentity = "identity"

// identities handles the identities of resources that become known during an apply.
type identities struct{ *run }

// pass is the work of a barrier: it evaluates the identities of the late resources of the
// barrier, and reports whether all of them are known.
func (r identities) pass(b order.Barrier) bool {
	for _, addr := range b.Late {
		step := r.plan.Resources[addr]
		resolved, diags := r.manifest.Config(addr, r.scope(addr))
		if diags.HasErrors() || !things.Known(step.Init, resolved.Unknown) {
			return false // the resource reports the error itself
		}
		r.facts.Claim(addr, r.thing(step, resolved.Value))
	}
	return true
}

// thing describes the thing of a resource.
func (r identities) thing(step *plan.Step, config json.RawMessage) match.Thing {
	return things.Declared(r.exec, step.Type, step.Init, config, step.Settings, runner.MountsIn(r.workdir, step.Mounts))
}

// recordedThing describes the thing of an entry.
func (r identities) recordedThing(addr string) match.Thing {
	entry := things.HostsOf(r.manifest, r.facts.Machines()).Place(r.prior.Resources[addr])
	entry.Mounts = runner.MountsIn(r.workdir, entry.Mounts)
	return things.Recorded(entry)
}

// free reports whether the thing of a resource belongs to no other resource. The plan did
// not know its identity: now it is known, and another resource, or the removal of one, may
// mean the same thing.
func (r identities) free(step *plan.Step, out *outcome, config json.RawMessage) bool {
	owner, now := "", match.Thing{}
	if step.Intent() == protocol.Absent {
		owner = r.claimed(out.addr)
	} else if step.Flexible() && !step.ReadOnly {
		if now = r.thing(step, config); len(step.Init.Identity) > 0 && !things.Known(step.Init, step.Unknown) {
			owner = r.owner(out.addr, now)
		}
	}
	why := "it would be the thing of " + references([]string{owner})
	if owner == "" {
		if !r.replaces(step, out.addr, now) {
			return true
		}
		why = "it would be another thing than the recorded one"
	}
	out.report.NotAttempted = out.report.Planned
	out.fail(failedIdentity, stale(why, "What identifies it became known only now. "+whatNow))
	out.report.Reason = "plan is stale: " + why
	return false
}

// replaces reports whether a resource means another thing now than its entry, which would
// stay: a plan that knows this replaces the recorded thing. That includes a type without an
// identity whose host turned out to be another machine.
func (r identities) replaces(step *plan.Step, addr string, now match.Thing) bool {
	entry := recorded(r.run, step, addr)
	if entry == nil || entry.ReadOnly || now.Type.Repository == "" {
		return false
	}
	relation, _ := match.Compare(now, r.recordedThing(addr), true)
	return relation == match.Differs
}

// claimed returns the resource that turned out to mean a recorded thing which is about to
// be destroyed; "" = none.
func (r identities) claimed(addr string) string {
	recorded := r.recordedThing(addr)
	for owner, t := range r.facts.Claims() {
		if owner != addr && match.MayBe(t, recorded) {
			return owner
		}
	}
	return ""
}

// owner returns the other resource that means the same thing, or the entry of the same thing
// that is neither moved nor gone; "" = none.
func (r identities) owner(addr string, t match.Thing) string {
	r.facts.Claim(addr, t)
	equal := func(one, other match.Thing) bool {
		relation, _ := match.Compare(one, other, false)
		return relation == match.Equal
	}
	claims := r.facts.Claims()
	for _, other := range slices.Sorted(maps.Keys(claims)) {
		if other != addr && equal(t.Named(), claims[other].Named()) {
			return other
		}
	}
	for _, other := range r.plan.Order() {
		step := r.plan.Resources[other]
		declared := step.Change != plan.Destroy && step.Change != plan.Forget && step.Change != plan.Left && !step.ReadOnly
		if other != addr && declared && things.Known(step.Init, step.Unknown) && equal(t.Named(), r.thing(step, step.Config).Named()) {
			return other
		}
	}
	for _, other := range slices.Sorted(maps.Keys(r.prior.Resources)) {
		step := r.plan.Resources[other]
		stays := step == nil || step.Change == plan.Destroy || step.Change == plan.Left || step.Change == plan.Replace
		if other != addr && stays && !r.prior.Resources[other].ReadOnly && !r.facts.IsGone(other) && equal(t, r.recordedThing(other)) {
			return other
		}
	}
	return ""
}
