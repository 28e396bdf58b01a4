package repair

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// Policy says what a repair may do while nobody looks on.
type Policy struct {
	Manifest  *config.Manifest
	Expanded  []config.Pending // its blocks whose instances follow from what is recorded of others
	Place     state.Place
	Selection plan.Selection // what is watched
	Prior     state.Snapshot
	Addresses []string      // what drifted
	Whole     bool          // in their place: all that the manifest declares and the state has, as an apply
	Kinds     []plan.Change // that are approved
	Looker    *plan.Looker  // of what is watched: nothing else is done with what drifted; nil where Whole
}

// Select says what is planned: what drifted and what depends on it, or all there is,
// without what is refused and what depends on that. nothing: there is nothing left.
func (p Policy) Select(refused map[string]string) (s plan.Selection, nothing bool) {
	s = p.Selection
	s.Excludes = slices.Concat(s.Excludes, slices.Sorted(maps.Keys(refused)))
	if p.Whole {
		return s, false
	}
	s.Apart = p.onlyDrift()
	s.NoRefresh = true // what did not drift is as it was, unless something that it depends on is to change
	s.Targets = p.targets(refused)
	return s, len(s.Targets) == 0
}

// Leave leaves out the resources that could not be planned. It is false where errors are
// about no resource, or about all that the manifest declares.
func (p Policy) Leave(left map[string]string, diags diag.Diagnostics) bool {
	before := len(left)
	for _, d := range diags {
		if d.Severity == diag.Error && p.Manifest.Resource(d.Address) != nil {
			left[d.Address] = d.Summary
		}
	}
	return len(left) > before && !p.Whole
}

// onlyDrift reports whether nothing may be done but to bring back what was recorded. Then
// no resource can come to mean another thing than that of its entry.
func (p Policy) onlyDrift() bool {
	return !p.Whole && !slices.ContainsFunc(p.Kinds, func(k plan.Change) bool { return k != Kind })
}

func (p Policy) targets(refused map[string]string) []string {
	after, watched := Dependants(p.Manifest), map[string]*config.Resource{}
	for _, r := range p.Looker.Resources {
		watched[r.Address] = r
	}
	var reach func(addr string, into map[string]bool)
	reach = func(addr string, into map[string]bool) {
		if into[addr] {
			return
		}
		into[addr] = true
		for _, next := range after[addr] {
			if p.follows(watched[next]) {
				reach(next, into)
			}
		}
	}
	wanted, left := map[string]bool{}, map[string]bool{}
	for _, addr := range p.Addresses {
		reach(addr, wanted)
	}
	for addr := range refused {
		reach(addr, left)
	}
	without := func(addr string, _ bool) bool { return left[addr] }
	maps.DeleteFunc(wanted, without)
	for _, b := range p.Expanded {
		for addr := range watched {
			if strings.HasPrefix(addr, b.Address+"[") && slices.ContainsFunc(b.Needs, func(n string) bool { return wanted[n] }) {
				reach(addr, left) // whether there is such an instance is known when what it follows from is repaired
			}
		}
	}
	maps.DeleteFunc(wanted, without)
	return slices.Sorted(maps.Keys(wanted))
}

// Later reports whether a resource that is not planned is none only because what its
// instances follow from is.
func (p Policy) Later(addr string, planned []string) bool {
	return slices.ContainsFunc(p.Expanded, func(b config.Pending) bool {
		return strings.HasPrefix(addr, b.Address+"[") && slices.ContainsFunc(b.Needs, func(n string) bool { return slices.Contains(planned, n) })
	})
}

// follows reports whether a resource may be done after what it depends on. What the
// manifest has changed is left to people, where nothing beyond drift is approved.
func (p Policy) follows(r *config.Resource) bool {
	return r != nil && !(p.onlyDrift() && p.Looker.Changed(r) != "")
}

// OnHold are the resources of a plan which may still be acted upon by another machine, and
// where the state has each: the plan may have moved it.
func OnHold(p *plan.Plan, prior state.Snapshot, place state.Place) map[string]string {
	found, now := map[string]string{}, map[string]string{}
	if died, _ := prior.Died(p.ID); !died.Moved { // else a run of this plan has made its moves
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

// NotCovered lists the resources of a plan that nobody has approved, and why.
func (p Policy) NotCovered(built *plan.Plan) map[string]string {
	found, held := map[string]string{}, OnHold(built, p.Prior, p.Place)
	for addr, step := range built.Resources {
		if why := p.refusal(addr, step, held[addr] != ""); why != "" {
			found[addr] = why
		}
	}
	return found
}

// refusal says why a step may not be done, or "".
func (p Policy) refusal(addr string, step *plan.Step, held bool) string {
	declared, kind := p.Manifest.Resource(addr), step.Kind()
	settled := step.Change == plan.Valid && !step.MayChange && step.MovedFrom == "" && !step.Adopted
	switch {
	case settled && p.onlyDrift() && !step.Unrefreshed && !Recorded(step, p.Prior.Resources[addr]):
		return "the manifest has changed it since it was applied"
	case step.Change == plan.Left, settled:
		return ""
	case held:
		return "an action may still run on another machine: `deployster plan` says what to do"
	case declared == nil && !slices.Contains(p.Kinds, kind):
		return "nobody has approved to " + string(kind) + " it"
	case declared != nil && declared.Watch.TellOnly:
		return "it has watch { repair = false }"
	case step.ReadOnly:
		return "it is read_only"
	case !p.Allowed(addr, step.Actions):
		return "it needs [" + strings.Join(Names(step.Actions), ", ") + "], and watch.actions allows " +
			strings.Join(declared.Watch.Actions, ", ")
	case step.Change == plan.Valid && step.MovedFrom != "":
		return "it was moved in the manifest, and a person has to apply that"
	case step.Change == plan.Valid && step.Adopted:
		return "it exists, and was not applied: a person has to adopt it"
	case slices.Contains(p.Kinds, kind), slices.Contains(p.Kinds, Kind) && Answered(step, p.Prior.Resources[addr]):
		return ""
	}
	if kind == plan.Deferred {
		return "what is to be done is known only when others are done, and nobody has approved deferred changes"
	}
	return "to " + string(kind) + " it would not just bring back what was recorded"
}

// Allowed reports whether actions may be run unattended by what the resource says.
func (p Policy) Allowed(addr string, actions []protocol.Action) bool {
	declared := p.Manifest.Resource(addr)
	if declared == nil || declared.Watch.Actions == nil {
		return true
	}
	return !slices.ContainsFunc(actions, func(a protocol.Action) bool { return !slices.Contains(declared.Watch.Actions, a.Name) })
}
