package decide

import (
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/change"
	"deployster/plan/identity"
	"deployster/plan/observe"
	"deployster/plan/query"
	"deployster/plan/subject"
)

// Decisions are what was decided so far, with what was matched. Many goroutines may read
// them while resources are decided.
type Decisions struct {
	Matched *identity.Matched
	// Unexpanded reports that something failed from which the instances of blocks follow: they stay
	// unknown.
	Unexpanded bool

	session *query.Session

	mu     sync.Mutex // guards the fields below: resources are decided in parallel
	steps  map[string]*change.Step
	pins   map[string]string // address -> the Pin of its entry, for those that were decided in parallel
	failed map[string]bool   // addresses about which nothing could be decided
}

// noDecisions returns Decisions about nothing.
func noDecisions(x *query.Session) *Decisions {
	size := len(x.Subject.Manifest.Resources())
	return &Decisions{Matched: identity.None(), session: x, steps: make(map[string]*change.Step, size), pins: make(map[string]string, size),
		failed: map[string]bool{}}
}

// clone returns the same decisions, with another Matched.
func (d *Decisions) clone(m *identity.Matched) *Decisions {
	return &Decisions{Matched: m, Unexpanded: d.Unexpanded, session: d.session, steps: maps.Clone(d.steps), pins: maps.Clone(d.pins),
		failed: maps.Clone(d.failed)}
}

// With returns the same decisions with these steps.
func (d *Decisions) With(steps map[string]*change.Step) *Decisions {
	if len(steps) == 0 {
		return d
	}
	next := d.clone(d.Matched)
	maps.Copy(next.steps, steps)
	return next
}

// under returns the decisions that hold with another Matched.
func (d *Decisions) under(m *identity.Matched) *Decisions {
	next := d.clone(m)
	changed := m.Changed(d.Matched)
	for _, addr := range changed {
		delete(next.failed, addr)
	}
	next.undecide(changed)
	for _, addr := range m.Ended(d.Matched) {
		delete(next.steps, addr)
	}
	maps.DeleteFunc(next.steps, func(addr string, _ *change.Step) bool { return !d.session.Subject.Wanted(addr) })
	return next
}

// undecide undoes what was decided about resources, and about all that depends on them: it returns all these.
func (d *Decisions) undecide(addresses []string) (reached map[string]bool) {
	if len(addresses) == 0 || len(d.steps) == 0 {
		return nil
	}
	before, reached := graph.Graph{}, map[string]bool{}
	for _, r := range d.session.Subject.Manifest.Resources() {
		before[r.Address] = subject.Predecessors(r)
	}
	after := before.Reverse()
	for _, addr := range addresses {
		subject.Reach(addr, after, reached)
	}
	for addr := range reached {
		delete(d.steps, addr)
	}
	return reached
}

// Steps returns the steps of all that was decided. The caller must not change the map.
func (d *Decisions) Steps() map[string]*change.Step { return d.steps }

// Failed reports whether nothing could be decided about an address.
func (d *Decisions) Failed(addr string) bool { return d.failed[addr] }

// Pin returns the fingerprint of the entry at an address, where it was computed with the
// decision, while other resources waited for answers.
func (d *Decisions) Pin(addr string) (pin string, known bool) {
	pin, known = d.pins[addr]
	return pin, known
}

// step returns the finished step of an address; nil = there is none yet.
func (d *Decisions) step(addr string) *change.Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steps[addr]
}

// view returns what a finished step lets its dependants expect.
func (d *Decisions) view(addr string) observe.View {
	if s := d.step(addr); s != nil {
		return s.View()
	}
	return observe.View{Partial: true}
}

// forecast is view for outputs, checks and preconditions: the state after an update is only known as far as
// it is forecast. The plan must not claim that an output will not change.
func (d *Decisions) forecast(addr string) observe.View {
	v, step := d.view(addr), d.step(addr)
	if step != nil && (step.Change() == observe.Update || step.Change() == observe.Deferred || step.Certainty == change.MayChange) {
		v.State, v.Partial, v.Stays, v.Staying = step.Answer().Forecast, true, false, nil
	}
	return v
}

// Final returns what is known when all is decided; nil = no output or check needs it.
func (d *Decisions) Final() config.States {
	if !d.session.Subject.Manifest.Concludes() {
		return nil
	}
	return observe.States(slices.Collect(maps.Keys(d.steps)), d.forecast, d.session.Subject.Prior)
}

// recordedScope returns the scope of the query of an object with its recorded config: of its
// dependencies the recorded states are sent, and else what a finished step lets expect.
func (d *Decisions) recordedScope() observe.Scope {
	prior := d.session.Subject.Prior
	return observe.Scope{Prior: prior, View: observe.RecordedViews(prior, d.view)}
}

// acts reports whether an apply runs actions for a resource, or may run some.
func (d *Decisions) acts(addr string) bool {
	switch s := d.step(addr); s.Change() {
	case observe.Valid:
		return s.Certainty == change.MayChange
	case observe.Record, observe.Left, observe.Forget:
		return false
	}
	return true
}

// willChange reports whether actions will be run for a resource, as far as is known.
func (d *Decisions) willChange(addr string) bool {
	s := d.step(addr)
	return s != nil && s.Change() != observe.Valid && !s.ReadOnly && d.acts(addr)
}

// sameConfigs reports whether the dependencies behind aliases, and the dependencies
// behind their aliases, have the configs with which they were recorded.
func (d *Decisions) sameConfigs(aliases map[string]string, seen map[string]bool) bool {
	for _, addr := range aliases {
		if seen[addr] {
			continue
		}
		seen[addr] = true
		dep := d.step(addr)
		if dep == nil {
			return false
		}
		if entry, _ := d.session.Recorded(addr, dep); !sameConfig(entry, dep) || !d.sameConfigs(dep.Aliases, seen) {
			return false
		}
	}
	return true
}
