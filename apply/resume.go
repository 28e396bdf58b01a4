package apply

import (
	"fmt"
	"maps"
	"slices"

	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// actionKey is the idempotency key of an action: the same when this action of this
// plan is tried again, and no other action's, of any project. What comes after
// the action tells it from others of its name, and stays when those before it
// are done: so it is counted from the end.
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
		return key + "/late" // it may be the second time
	case at.first:
		return key + "/first"
	}
	return key
}

// beforeMoves gives what the plan was made with at the addresses of now, and the state
// in which whom entries depend on is called as it was then: a run of the plan that died
// may have made its moves.
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

// pinned reports whether what is recorded of a resource is what the plan was made
// with, or what a run of the plan that died has made of it.
func pinned(s state.Snapshot, addr, pin string, died state.Applied) bool {
	if s.Pin(addr) == pin {
		return true
	}
	if hash, done := died.Done[addr]; done && s.Pin(addr) == hash {
		return true
	}
	entry, known := s.Resources[addr]
	if known && entry.Dirty && died.Plan != "" {
		// It had started on it.
		clean := entry
		clean.Dirty = false
		hash, ended := died.Done[addr] // what was there is destroyed, or was let go of
		begun := entry.Incomplete() && (pin == "" || ended && hash == "")
		return entry.Holds(pin) || clean.Holds(pin) || begun && s.Unsettled[addr].Plan == died.Plan
	}
	return false
}

// resumes reports whether an answer of a resource that was started by a run which
// died leaves just the rest of the actions that were shown.
func (r *run) resumes(step *plan.Step, addr string, answer protocol.Answer) bool {
	u, started := r.prior.Unsettled[addr]
	return started && u.Plan == r.plan.ID && rest(step, answer)
}

// begun reports whether what is recorded of a resource is what a run of this plan that
// died began, in the place of what was destroyed, let go of, or given another address.
func begun(r *run, step *plan.Step, addr string) bool {
	_, done := r.died.Done[addr]
	return done || step.Another && r.prior.Unsettled[addr].Plan == r.plan.ID
}

// letsGo reports whether the next action of a step is the first on its thing, and another
// thing is recorded in that place, which stays: it is let go of when the action starts.
func letsGo(r *run, step *plan.Step, addr string) bool {
	_, known := r.prior.Resources[addr]
	return known && step.Another && !begun(r, step, addr) && !r.facts.Acted(addr)
}

// completed reports whether a run of this plan that died has recorded a resource:
// its actions are not run again.
func (r *run) completed(addr string) bool {
	hash, done := r.died.Done[addr]
	if step := r.plan.Resources[addr]; hash == "" && (step.Change == plan.Replace || step.Another) {
		return false // what was there is destroyed, or let go of, and no more
	}
	return done && r.prior.Pin(addr) == hash
}

// changedSince refuses a resource that a run which died had finished, and which is not
// so any more.
func (o *outcome) changedSince() {
	o.report.NotAttempted = o.report.Planned
	o.fail(failedState, stale("it was done by the run that died, and was changed since", whatNow))
}

// Resumed says what a run of the plan that died has left: the addresses that are
// done, sorted, and whether there was such a run.
func Resumed(p *plan.Plan, s state.Snapshot) (done []string, resumed bool) {
	died, resumed := s.Died(p.ID)
	return slices.Sorted(maps.Keys(died.Done)), resumed
}
