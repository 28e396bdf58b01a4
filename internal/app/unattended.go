package app

import (
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
	"deployster/state"
)

// unattended is what may be done while nobody looks on.
type unattended struct {
	RepairOptions
	prior state.Snapshot
	after map[string][]string // who depends on whom
	by    map[string]*config.Resource
}

func newUnattended(o RepairOptions, prior state.Snapshot) unattended {
	u := unattended{o, prior, repair.Dependants(o.Source.Manifest), map[string]*config.Resource{}}
	if !o.Whole {
		for _, r := range o.Looker.Resources {
			u.by[r.Address] = r
		}
	}
	return u
}

// selection is what is planned: what drifted and what depends on it, or all there is,
// without what is refused and what depends on that. nothing: there is nothing left.
func (u unattended) selection(refused map[string]string) (s plan.Selection, nothing bool) {
	s = u.Source.Selection
	s.Excludes = slices.Concat(s.Excludes, slices.Sorted(maps.Keys(refused)))
	if u.Whole {
		return s, false
	}
	s.Apart = u.onlyDrift()
	s.NoRefresh = true // what did not drift is as it was, unless something that it depends on is to change
	s.Targets = u.targets(refused)
	return s, len(s.Targets) == 0
}

// leave leaves out the resources that could not be planned. It is false where errors are
// about no resource, or about all that the manifest declares.
func (u unattended) leave(left map[string]string, diags diag.Diagnostics) bool {
	before := len(left)
	for _, d := range diags {
		if d.Severity == diag.Error && u.Source.Manifest.Resource(d.Address) != nil {
			left[d.Address] = d.Summary
		}
	}
	return len(left) > before && !u.Whole
}

// onlyDrift reports whether nothing may be done but to bring back what was recorded. Then
// no resource can come to mean another thing than that of its entry.
func (u unattended) onlyDrift() bool {
	return !u.Whole && !slices.ContainsFunc(u.Kinds, func(k plan.Change) bool { return k != repair.Kind })
}

func (u unattended) targets(refused map[string]string) []string {
	wanted, left := map[string]bool{}, map[string]bool{}
	for _, addr := range u.Addresses {
		u.reach(addr, wanted)
	}
	for addr := range refused {
		u.reach(addr, left)
	}
	maps.DeleteFunc(wanted, func(addr string, _ bool) bool { return left[addr] })
	return slices.Sorted(maps.Keys(wanted))
}

func (u unattended) reach(addr string, into map[string]bool) {
	if into[addr] {
		return
	}
	into[addr] = true
	for _, next := range u.after[addr] {
		if u.follows(next) {
			u.reach(next, into)
		}
	}
}

// follows reports whether a resource may be done after what it depends on. What the
// manifest has changed is left to people, where nothing beyond drift is approved.
func (u unattended) follows(addr string) bool {
	r := u.by[addr]
	return r != nil && !(u.onlyDrift() && u.Looker.Changed(r) != "")
}

// notCovered lists the resources of a plan that nobody has approved, and why.
func (u unattended) notCovered(p *plan.Plan) map[string]string {
	found := map[string]string{}
	for addr, step := range p.Resources {
		if why := u.refusal(addr, step); why != "" {
			found[addr] = why
		}
	}
	return found
}

// refusal says why a step may not be done, or "".
func (u unattended) refusal(addr string, step *plan.Step) string {
	declared, kind := u.Source.Manifest.Resource(addr), step.Kind()
	settled := step.Change == plan.Valid && !step.MayChange && step.MovedFrom == "" && !step.Adopted
	switch {
	case settled && u.onlyDrift() && !step.Unrefreshed && !repair.Recorded(step, u.prior.Resources[addr]):
		return "the manifest has changed it since it was applied"
	case step.Change == plan.Left, settled:
		return ""
	case slices.Contains(u.prior.OnHold(u.Source.Place), addr):
		return "an action may still run on another machine: `deployster plan` says what to do"
	case declared == nil && !slices.Contains(u.Kinds, kind):
		return "nobody has approved to " + string(kind) + " it"
	case declared != nil && declared.Watch.TellOnly:
		return "it has watch { repair = false }"
	case step.ReadOnly:
		return "it is read_only"
	case !u.allowed(addr, step.Actions):
		return "it needs [" + strings.Join(repair.Names(step.Actions), ", ") + "], and watch.actions allows " +
			strings.Join(declared.Watch.Actions, ", ")
	case step.Change == plan.Valid && step.MovedFrom != "":
		return "it was moved in the manifest, and a person has to apply that"
	case step.Change == plan.Valid && step.Adopted:
		return "it exists, and was not applied: a person has to adopt it"
	case slices.Contains(u.Kinds, kind), slices.Contains(u.Kinds, repair.Kind) && repair.Answered(step, u.prior.Resources[addr]):
		return ""
	}
	if kind == plan.Deferred {
		return "what is to be done is known only when others are done, and nobody has approved deferred changes"
	}
	return "to " + string(kind) + " it would not just bring back what was recorded"
}

// allowed reports whether actions may be run unattended by what the resource says.
func (u unattended) allowed(addr string, actions []protocol.Action) bool {
	declared := u.Source.Manifest.Resource(addr)
	if declared == nil || declared.Watch.Actions == nil {
		return true
	}
	return !slices.ContainsFunc(actions, func(a protocol.Action) bool { return !slices.Contains(declared.Watch.Actions, a.Name) })
}
