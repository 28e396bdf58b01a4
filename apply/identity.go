package apply

import (
	"encoding/json"
	"sync"

	"deployster/apply/fresh"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/order"
	"deployster/plan/things"
	"deployster/protocol"
)

// failedIdentity is ResourceReport.Failed of a resource that turns out to mean the thing of another resource.
const failedIdentity = "identity"

// identities handles the identities of resources that become known during an apply.
type identities struct{ *run }

// pass is the work of a barrier: it evaluates the identities of its late resources, and reports whether all are known.
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

// free reports whether the thing of a resource belongs to no other resource. The plan did not know its identity: now it is
// known, and another resource, or the removal of one, may mean the same thing.
func (r identities) free(step *plan.Step, out *outcome, config json.RawMessage) bool {
	owner, now := "", match.Thing{}
	if step.Intent() == protocol.Absent {
		owner = r.claimed(out.addr)
	} else if step.Flexible() && !step.ReadOnly {
		if now = r.thing(step, config); len(step.Init.Identity) > 0 && !things.Known(step.Init, step.Unknown) {
			owner = r.owner(out.addr, now)
		}
	}
	const became = "What identifies it became known only now. "
	if owner == "" {
		another := r.replaces(step, out.addr, now)
		if another { // nothing has failed: it takes two applies
			out.decline("it would be another object than the recorded one")
			out.problem = &diag.Diagnostic{Severity: diag.Error, Summary: "Not done yet: " + out.report.Reason, Address: out.addr,
				Detail: became + "Nothing of this resource was run. Plan and apply again: then it is replaced."}
		}
		return !another
	}
	why := "it would be the object of " + references([]string{owner})
	out.report.NotAttempted = out.report.Planned
	out.fail(failedIdentity, fresh.Stale(why, became+whatNow))
	out.report.Reason = "plan is stale: " + why
	return false
}

// replaces reports whether a resource means another thing now than its entry, which would stay: a plan that knows this replaces
// the recorded thing. That includes a type without an identity whose host turned out to be another machine.
func (r identities) replaces(step *plan.Step, addr string, now match.Thing) bool {
	entry := recorded(r.run, step, addr)
	if entry == nil || entry.ReadOnly || now.Type.Repository == "" {
		return false
	}
	relation, _ := match.Compare(now, r.recordedThing(addr), true)
	return relation == match.Differs
}

// claimed returns the resource that turned out to mean a recorded thing which is about to be destroyed; "" = none.
func (r identities) claimed(addr string) string {
	recorded := r.recordedThing(addr)
	for owner, t := range r.facts.Claims() {
		if owner != addr && match.MayBe(t, recorded) {
			return owner
		}
	}
	return ""
}

// owner returns the other resource that means the same thing, or the entry of the same thing that is neither moved nor gone; "" = none.
func (r identities) owner(addr string, t match.Thing) string {
	r.facts.Claim(addr, t)
	if other := r.facts.Claimant(addr, t); other != "" {
		return other
	}
	r.owners.Lock()
	defer r.owners.Unlock()
	if r.owners.declared == nil {
		r.owners.declared, r.owners.recorded = r.declaredThings(), r.recordedThings()
	}
	other := r.owners.declared.Find(t.Named(), func(other string, of match.Thing) bool { return other != addr && match.Means(t.Named(), of) })
	if other != "" {
		return other
	}
	return r.owners.recorded.Find(t, func(other string, _ match.Thing) bool {
		return other != addr && !r.facts.IsGone(other) && match.Means(t, r.recordedThing(other))
	})
}

// declaredThings are the things of the plan's resources whose identities the plan knows.
func (r identities) declaredThings() *match.Finder {
	var f match.Finder
	for addr, step := range r.plan.Resources {
		declared := step.Change() != plan.Destroy && step.Change() != plan.Forget && step.Change() != plan.Left && !step.ReadOnly
		if declared && things.Known(step.Init, step.Unknown) {
			f.Add(addr, r.thing(step, step.Config).Named())
		}
	}
	return &f
}

// recordedThings are the things of the entries that are not moved.
func (r identities) recordedThings() *match.Finder {
	var f match.Finder
	for addr, entry := range r.prior.Resources {
		step := r.plan.Resources[addr]
		stays := step == nil || step.Change() == plan.Destroy || step.Change() == plan.Left || step.Change() == plan.Replace
		if stays && !entry.ReadOnly {
			f.Add(addr, r.recordedThing(addr))
		}
	}
	return &f
}

// owners finds those that a thing may belong to. The lock guards the rest.
type owners struct {
	sync.Mutex
	declared, recorded *match.Finder // nil until they are needed
}
