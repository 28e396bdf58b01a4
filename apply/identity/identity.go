package identity

import (
	"encoding/json"
	"sync"

	"deployster/apply/query"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/order"
	"deployster/protocol"
)

// Identities are those of the resources of an apply. They are safe for concurrent use.
type Identities struct {
	known   *query.Queries
	workdir string // its path has no symbolic links

	mu                 sync.Mutex    // guards the rest
	declared, recorded *match.Finder // find those that a thing may belong to; nil until they are needed
}

// New returns the identities of an apply with what its queries know.
func New(known *query.Queries) *Identities {
	return &Identities{known: known, workdir: runner.RealDir(known.Plan.Workspace)}
}

// Pass is the work of a barrier: it evaluates the identities of its late resources, and reports whether all are known.
func (i *Identities) Pass(b order.Barrier) bool {
	for _, addr := range b.Late {
		step := i.known.Plan.Resources[addr]
		resolved, diags := i.known.Manifest.Config(addr, i.known.Scope(addr))
		if diags.HasErrors() || !objects.Known(step.Init, resolved.Unknown) {
			return false // the resource reports the error itself
		}
		i.known.Facts.Claim(addr, i.thing(step, resolved.Value))
	}
	return true
}

// thing describes the thing of a resource.
func (i *Identities) thing(step *plan.Step, config json.RawMessage) match.Object {
	return objects.Declared(i.known.Client, step.Type, step.Init, config, step.Settings, runner.MountsIn(i.workdir, step.Mounts))
}

// recordedThing describes the thing of an entry.
func (i *Identities) recordedThing(addr string) match.Object {
	entry := objects.HostsOf(i.known.Manifest, i.known.Facts.Machines()).Place(i.known.Prior.Resources[addr])
	entry.Mounts = runner.MountsIn(i.workdir, entry.Mounts)
	return objects.Recorded(entry)
}

// Other returns the other resource to which the thing of a resource belongs; "" = none. The plan did not know its
// identity: now it is known, and another resource, or the removal of one, may mean the same thing. another reports
// that it is not an other's, but not the recorded one of the resource.
func (i *Identities) Other(step *plan.Step, addr string, config json.RawMessage) (owner string, another bool) {
	now := match.Object{}
	if step.Intent() == protocol.Absent {
		owner = i.claimed(addr)
	} else if step.Flexible() && !step.ReadOnly {
		if now = i.thing(step, config); len(step.Init.Identity) > 0 && !objects.Known(step.Init, step.Unknown) {
			owner = i.owner(addr, now)
		}
	}
	return owner, owner == "" && i.replaces(step, addr, now)
}

// replaces reports whether a resource means another thing now than its entry, which would stay: a plan that knows this replaces
// the recorded thing. That includes a type without an identity whose host turned out to be another machine.
func (i *Identities) replaces(step *plan.Step, addr string, now match.Object) bool {
	entry := i.known.Recorded(step, addr)
	if entry == nil || entry.ReadOnly || now.Type.Repository == "" {
		return false
	}
	relation, _ := match.Compare(now, i.recordedThing(addr), true)
	return relation == match.Differs
}

// claimed returns the resource that turned out to mean a recorded thing which is about to be destroyed; "" = none.
func (i *Identities) claimed(addr string) string {
	recorded := i.recordedThing(addr)
	for owner, t := range i.known.Facts.Claims() {
		if owner != addr && match.MayBe(t, recorded) {
			return owner
		}
	}
	return ""
}

// owner returns the other resource that means the same thing, or the entry of the same thing that is neither moved nor gone; "" = none.
func (i *Identities) owner(addr string, t match.Object) string {
	i.known.Facts.Claim(addr, t)
	if other := i.known.Facts.Claimant(addr, t); other != "" {
		return other
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.declared == nil {
		i.declared, i.recorded = i.declaredThings(), i.recordedThings()
	}
	other := i.declared.Find(t.Named(), func(other string, of match.Object) bool { return other != addr && match.Means(t.Named(), of) })
	if other != "" {
		return other
	}
	return i.recorded.Find(t, func(other string, _ match.Object) bool {
		return other != addr && !i.known.Facts.IsGone(other) && match.Means(t, i.recordedThing(other))
	})
}

// declaredThings are the objects of the plan's resources whose identities the plan knows.
func (i *Identities) declaredThings() *match.Finder {
	var f match.Finder
	for addr, step := range i.known.Plan.Resources {
		declared := step.Change() != plan.Destroy && step.Change() != plan.Forget && step.Change() != plan.Left && !step.ReadOnly
		if declared && objects.Known(step.Init, step.Unknown) {
			f.Add(addr, i.thing(step, step.Config).Named())
		}
	}
	return &f
}

// recordedThings are the objects of the entries that are not moved.
func (i *Identities) recordedThings() *match.Finder {
	var f match.Finder
	for addr, entry := range i.known.Prior.Resources {
		step := i.known.Plan.Resources[addr]
		stays := step == nil || step.Change() == plan.Destroy || step.Change() == plan.Left || step.Change() == plan.Replace
		if stays && !entry.ReadOnly {
			f.Add(addr, i.recordedThing(addr))
		}
	}
	return &f
}
