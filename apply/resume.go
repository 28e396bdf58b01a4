package apply

import (
	"fmt"
	"maps"
	"slices"

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
	switch {
	case at.late:
		return key + "/late" // it may be the second time that the action runs
	case at.first:
		return key + "/first"
	}
	return key
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

// pinned reports whether the entry of a resource is the one that the plan was made with,
// or the one that a killed run of the plan has recorded.
func pinned(s state.Snapshot, addr, pin string, died state.Applied) bool {
	if s.Pin(addr) == pin {
		return true
	}
	if hash, done := died.Done[addr]; done && s.Pin(addr) == hash {
		return true
	}
	entry, known := s.Resources[addr]
	if known && entry.Dirty && died.Plan != "" {
		// The killed run had started an action on it.
		clean := entry
		clean.Dirty = false
		hash, ended := died.Done[addr] // the old thing is destroyed, or its entry was released
		begun := entry.Incomplete() && (pin == "" || ended && hash == "")
		return entry.Holds(pin) || clean.Holds(pin) || begun && s.Unsettled[addr].Plan == died.Plan
	}
	return false
}

// resumes reports whether a killed run of this plan had started a resource, and the answer
// now needs just the rest of the actions that were shown.
func (r *run) resumes(step *plan.Step, addr string, answer protocol.Answer) bool {
	u, started := r.prior.Unsettled[addr]
	return started && u.Plan == r.plan.ID && rest(step, answer)
}

// begun reports whether the entry of a resource is the one that a killed run of this plan
// began, in place of an entry that was removed, released, or given another address.
func begun(r *run, step *plan.Step, addr string) bool {
	_, done := r.died.Done[addr]
	return done || step.Another && r.prior.Unsettled[addr].Plan == r.plan.ID
}

// letsGo reports whether the next action of a step is the first on its thing, and the entry
// at its address is of another thing, which stays: the entry is released when the action starts.
func letsGo(r *run, step *plan.Step, addr string) bool {
	_, known := r.prior.Resources[addr]
	return known && step.Another && !begun(r, step, addr) && !r.facts.Acted(addr)
}

// completed reports whether a killed run of this plan has finished a resource: its
// actions are not run again.
func (r *run) completed(addr string) bool {
	hash, done := r.died.Done[addr]
	if step := r.plan.Resources[addr]; hash == "" && (step.Change == plan.Replace || step.Another) {
		return false // only the old thing was destroyed, or its entry released
	}
	return done && r.prior.Pin(addr) == hash
}

// changedSince refuses a resource that a killed run had finished, and that is no longer
// as that run left it.
func (o *outcome) changedSince() {
	o.report.NotAttempted = o.report.Planned
	o.fail(failedState, stale("it was done by the run that died, and was changed since", whatNow))
}

// Resumed returns the addresses that a killed run of the plan has done, sorted, and
// whether there was such a run.
func Resumed(p *plan.Plan, s state.Snapshot) (done []string, resumed bool) {
	died, resumed := s.Died(p.ID)
	return slices.Sorted(maps.Keys(died.Done)), resumed
}
