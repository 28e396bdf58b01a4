package fresh

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/begins"
	"deployster/state"
)

// Check refuses a plan that does not fit the state file any more. It only reads the
// state; images are queried right before each resource's actions.
func Check(p *plan.Plan, s state.Snapshot) error {
	died, resumed := s.Died(p.ID)
	if last, was := s.WasApplied(p.ID); was && !resumed {
		why, todo := "it was already applied", "A plan is used once. Make a new one to see what is left to do."
		if last.Status != state.StatusOK {
			todo = fmt.Sprintf("Its run ended by itself (%s). Only a run that was interrupted, as by a power cut, can be continued. "+
				"Make a new plan to see what is left to do.", last.Status)
		}
		return Stale(why, todo)
	}
	if s.Lineage == begins.Lineage(p.ID) && s.Serial > 0 && !resumed { // also when the state has no record of that run any more
		return Stale("it was already applied", "This state was started by it. A plan is used once. Make a new one to see what is left "+
			"to do.")
	}
	if p.Lineage != "" && s.Lineage != "" && p.Lineage != s.Lineage {
		return Stale("it was made for another state file",
			fmt.Sprintf("The plan belongs to the state with lineage %s, this one has %s. Name the file with -state, or plan again.",
				p.Lineage, s.Lineage))
	}
	if p.Lineage != "" && s.Lineage == "" {
		return Stale("the state file it was made from is gone",
			"The plan was made with a state file, and there is none now. Use -state to name it, or plan again.")
	}
	if p.Lineage == "" && s.Serial > 0 && !resumed { // at serial 0 a state exists, and nothing was recorded in it
		return Stale("there was no state when it was made, and there is one now",
			"It was made for another state file, or another apply ran in between. Name the file with -state, or plan again.")
	}
	var changed []string
	pins, then := beforeMoves(p, s, died)
	for _, addr := range slices.Sorted(maps.Keys(pins)) {
		if !Pinned(then, addr, pins[addr], died) && !Pinned(s, addr, pins[addr], died) {
			changed = append(changed, addr)
		}
	}
	if len(changed) > 0 {
		return Stale("the state of "+strings.Join(changed, ", ")+" changed after this plan was made",
			"Another apply ran in between. Plan again to see what is left to do.")
	}
	if dependant, addr := newDependant(p, s); dependant != "" {
		return Stale(fmt.Sprintf("it destroys %s, and %s was recorded since as depending on it", config.Reference(addr),
			config.Reference(dependant)),
			"Another apply ran in between. Plan again: the new plan has the right order.")
	}
	return nil
}

// Place refuses a plan for a state that it may not begin. A killed run of the plan has begun the right one, wherever that is now.
func Place(p *plan.Plan, s state.Snapshot, at begins.State) error {
	if _, resumed := s.Died(p.ID); p.Begins == nil || p.Begins.Is(at) || resumed {
		return nil
	}
	return Stale("it begins the state of another place", fmt.Sprintf("It was signed without a state, and begins %s; this is %s. Name that "+
		"state with -state, or plan again for this one. With `deployster plan -any-state` a signed plan begins any state.", p.Begins, at))
}

// newDependant returns an entry that depends on something the plan destroys, and that
// the plan does not know. For a partial plan it returns nothing: such a plan may have
// left out an entry that existed already.
func newDependant(p *plan.Plan, s state.Snapshot) (dependant, addr string) {
	if p.Partial() {
		return "", ""
	}
	for _, dependant := range slices.Sorted(maps.Keys(s.Resources)) {
		if _, known := p.Entries[dependant]; known {
			continue
		}
		for _, addr := range s.Resources[dependant].Dependencies {
			if step := p.Resources[addr]; step != nil && (step.Change() == plan.Destroy || step.Change() == plan.Replace) {
				return dependant, addr
			}
		}
	}
	return "", ""
}

// Stale returns the error for a stale plan.
func Stale(why, todo string) *diag.Diagnostic {
	return &diag.Diagnostic{Severity: diag.Error, Summary: "plan is stale: " + why, Detail: todo}
}

// beforeMoves returns the plan's pins at the present addresses, and the state with the
// dependencies of entries renamed back to the addresses of then: a killed run of the plan
// may have made the plan's moves.
func beforeMoves(p *plan.Plan, s state.Snapshot, died state.Applied) (pins map[string]string, then state.Snapshot) {
	if !died.Moved {
		return p.Entries, s
	}
	pins, back := maps.Clone(p.Entries), map[string]string{}
	for _, m := range p.Moves {
		pins[m.From], back[m.To] = "", m.From
	}
	for _, m := range p.Moves {
		pins[m.To] = p.Entries[m.From]
	}
	s.Resources = maps.Clone(s.Resources)
	for addr, e := range s.Resources {
		s.Resources[addr] = e.Renamed(back)
	}
	return pins, s
}

// Pinned reports whether the entry of a resource is the one that the plan was made with,
// or the one that a killed run of the plan has recorded.
func Pinned(s state.Snapshot, addr, pin string, died state.Applied) bool {
	if s.Pin(addr) == pin {
		return true
	}
	if hash, done := died.Done[addr]; done && s.Pin(addr) == hash {
		return true
	}
	entry, known := s.Resources[addr]
	if !known && died.Plan != "" && s.Went(addr) != nil { // the killed run had given it to another state
		return true
	}
	if known && entry.Dirty && died.Plan != "" {
		// The killed run had started an action on it.
		clean := entry
		clean.Dirty = false
		hash, ended := died.Done[addr] // the old object is destroyed, or its entry was released
		begun := entry.Incomplete() && (pin == "" || ended && hash == "")
		return entry.Holds(pin) || clean.Holds(pin) || begun && s.Unsettled[addr].Plan == died.Plan
	}
	return false
}
