package repair

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/inputs"
	"deployster/protocol"
	"deployster/state"
)

// Policy reports what a repair may do unattended.
type Policy struct {
	Manifest  *config.Manifest
	Expanded  []config.Pending // its blocks whose instances follow from recorded states of resources
	Place     state.Place
	Selection plan.Selection // selects what is watched
	Prior     state.Snapshot
	Addresses []string       // the resources that drifted
	Whole     bool           // repair all that the manifest declares and the state has, as an apply does, and not Addresses
	Kinds     []plan.Change  // the approved kinds of change
	Checker   *drift.Checker // of the watched resources: only they are repaired with what drifted; nil with Whole
}

// Select returns what is planned: what drifted and its dependants, or everything with
// Whole, without refused resources and their dependants. nothing = nothing is left.
func (p Policy) Select(refused map[string]string) (s plan.Selection, nothing bool) {
	s = p.Selection
	s.Excludes = slices.Concat(s.Excludes, slices.Sorted(maps.Keys(refused)))
	if p.Whole {
		return s, false
	}
	s.Apart = p.onlyDrift()
	s.NoRefresh = true // what did not drift is unchanged, unless one of its dependencies is to change
	s.Targets = p.targets(refused)
	return s, len(s.Targets) == 0
}

// Leave adds the declared resources with errors to those that are left out. It returns false
// if it adds none, or with Whole.
func (p Policy) Leave(left map[string]string, diags diag.Diagnostics) bool {
	before := len(left)
	for _, d := range diags {
		if d.Severity == diag.Error && p.Manifest.Resource(d.Address) != nil {
			left[d.Address] = d.Summary
		}
	}
	return len(left) > before && !p.Whole
}

// onlyDrift reports whether the repair may only restore what was recorded. Then every
// resource means the object of its own entry.
func (p Policy) onlyDrift() bool {
	return !p.Whole && !slices.ContainsFunc(p.Kinds, func(k plan.Change) bool { return k != Kind })
}

// targets returns what drifted and its dependants, without those of refused resources: a plan
// without a resource has none of its dependants either, whether or not they may be repaired.
func (p Policy) targets(refused map[string]string) []string {
	after, watched := Dependants(p.Manifest), map[string]*config.Resource{}
	for _, r := range p.Checker.Resources {
		watched[r.Address] = r
	}
	var reach func(addr string, into map[string]bool, also func(addr string) bool)
	reach = func(addr string, into map[string]bool, also func(addr string) bool) {
		if into[addr] {
			return
		}
		into[addr] = true
		for _, next := range after[addr] {
			if also(next) {
				reach(next, into, also)
			}
		}
	}
	wanted, left := map[string]bool{}, map[string]bool{}
	for _, addr := range p.Addresses {
		reach(addr, wanted, func(addr string) bool { return p.follows(watched[addr]) })
	}
	leave := func(addr string) { reach(addr, left, func(string) bool { return true }) }
	for addr := range refused {
		leave(addr)
	}
	without := func(addr string, _ bool) bool { return left[addr] }
	maps.DeleteFunc(wanted, without)
	for _, b := range p.Expanded {
		for addr := range watched {
			if strings.HasPrefix(addr, b.Address+"[") && slices.ContainsFunc(b.Needs, func(n string) bool { return wanted[n] }) {
				leave(addr) // whether it exists is known only after what it follows from is repaired
			}
		}
	}
	maps.DeleteFunc(wanted, without)
	return slices.Sorted(maps.Keys(wanted))
}

// Later reports whether a resource is left out of a plan only because its block's
// instances follow from a resource that is planned.
func (p Policy) Later(addr string, planned []string) bool {
	return slices.ContainsFunc(p.Expanded, func(b config.Pending) bool {
		return strings.HasPrefix(addr, b.Address+"[") && slices.ContainsFunc(b.Needs,
			func(n string) bool { return slices.Contains(planned, n) })
	})
}

// follows reports whether a dependant of a repaired resource may be planned too. One that
// the manifest has changed is left to people, where nothing beyond drift is approved.
func (p Policy) follows(r *config.Resource) bool {
	return r != nil && !(p.onlyDrift() && p.Checker.Changed(r) != "")
}

// OnHold returns the resources of a plan on which another machine may still run an action,
// each with its address in the state, which a move of the plan may have changed.
func OnHold(p *plan.Plan, prior state.Snapshot, place state.Place) map[string]string {
	found, now := map[string]string{}, map[string]string{}
	if died, _ := prior.Died(p.ID); !died.Moved { // else an earlier run of this plan has made its moves
		for _, m := range p.Moves {
			now[m.From] = m.To
		}
	}
	for _, recorded := range prior.OnHold(place) {
		if addr := cmp.Or(now[recorded], recorded); p.Resources[addr] != nil {
			found[addr] = recorded
		}
	}
	return found
}

// NotCovered returns the resources of a plan whose steps may not run unattended, with the reasons.
func (p Policy) NotCovered(built *plan.Plan) map[string]string {
	found, held := map[string]string{}, OnHold(built, p.Prior, p.Place)
	for addr, step := range built.Resources {
		if why := p.refusal(addr, step, held[addr] != ""); why != "" {
			found[addr] = why
		}
	}
	return found
}

// refusal reports why a step may not run unattended, or "".
func (p Policy) refusal(addr string, step *plan.Step, held bool) string {
	declared, kind := p.Manifest.Resource(addr), step.Kind()
	settled := step.Settled() && step.MovedFrom == "" && !step.Adopted()
	switch {
	case settled && p.onlyDrift() && !step.Unrefreshed() && !Recorded(step, p.Prior.Resources[addr]):
		return "the manifest has changed it since it was applied"
	case step.Change() == plan.Left, settled:
		return ""
	case held:
		return "an action may still run on another machine: `deployster plan` shows what to do"
	case step.DestroysAdopted():
		return "deployster did not create what would be destroyed: a person has to apply that"
	case declared == nil && !slices.Contains(p.Kinds, kind):
		return "no approval to " + string(kind) + " it"
	case declared != nil && declared.Watch.TellOnly:
		return "it has watch { repair = false }"
	case declared != nil && step.Init.ByPerson && !declared.Watch.Repair:
		return "its type is not repaired by default: watch { repair = true } allows that"
	case step.ReadOnly:
		return "it is read_only"
	case !p.Allowed(addr, step.Answer().Actions):
		return "it needs [" + strings.Join(Names(step.Answer().Actions), ", ") + "], and watch.actions allows " +
			strings.Join(declared.Watch.Actions, ", ")
	case step.Change() == plan.Valid && step.MovedFrom != "":
		return "it was moved in the manifest, and a person has to apply that"
	case step.Change() == plan.Valid && step.Adopted() && p.madeBefore(addr, step):
		return ""
	case step.Change() == plan.Valid && step.Adopted():
		return "it exists, and was not applied: a person has to adopt it"
	case slices.Contains(p.Kinds, kind), slices.Contains(p.Kinds, Kind) && Answered(step, p.Prior.Resources[addr]):
		return ""
	}
	if kind == plan.Deferred {
		return "what is to be done is known only when others are done, and deferred changes are not approved"
	}
	entry := p.Prior.Resources[addr]
	other := inputs.Without(slices.Concat(differences(step, entry), inputs.Only(step.Inputs(), inputs.Pending)), inputs.Unfinished)
	if declared != nil && !entry.Incomplete() && len(other) > 0 {
		return "that is not drift: " + strings.Join(inputs.Words(other), "; ")
	}
	return "to " + string(kind) + " it would not just restore what was recorded"
}

// madeBefore reports whether an earlier run began to make what a step found VALID, and whether
// making it is approved: then it is only recorded.
func (p Policy) madeBefore(addr string, step *plan.Step) bool {
	made := plan.Create
	if step.Publishes {
		made = plan.Publish
	}
	e, begun := p.Prior.Resources[addr]
	return begun && e.Incomplete() && slices.Contains(p.Kinds, made)
}

// MayRun reports whether actions that the plan could not show may be run: those that Allowed
// allows, but none that destroys what deployster did not create.
func (p Policy) MayRun(addr string, actions []protocol.Action) bool {
	e, known := p.Prior.Resources[addr]
	return p.Allowed(addr, actions) && (protocol.Destructive(nil, actions) == "" || known && !e.Adopted)
}

// Allowed reports whether the watch.actions of a resource allow these actions.
func (p Policy) Allowed(addr string, actions []protocol.Action) bool {
	declared := p.Manifest.Resource(addr)
	if declared == nil || declared.Watch.Actions == nil {
		return true
	}
	return !slices.ContainsFunc(actions, func(a protocol.Action) bool { return !slices.Contains(declared.Watch.Actions, a.Name) })
}
