package plan

import (
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/state"
)

// decided is what a Build has decided so far.
type decided struct {
	subject *subject.Subject

	finalScope config.States // what is known when all is decided; nil = nobody has asked for it yet

	mu       sync.Mutex // guards the fields below: resources are asked in parallel
	steps    map[string]*Step
	pins     map[string]string         // address -> the Pin of its entry, for those that were asked in parallel
	triggers map[string]*reason.Reason // address of a resource that replace_triggered_by replaces -> why
}

func newDecided(s *subject.Subject) *decided {
	size := len(s.Manifest.Resources())
	return &decided{subject: s, steps: make(map[string]*Step, size), pins: make(map[string]string, size),
		triggers: map[string]*reason.Reason{}}
}

// look returns what a finished step lets its dependants expect.
func (d *decided) look(addr string) observe.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.steps[addr]; ok {
		return s.View()
	}
	return observe.View{Partial: true}
}

// step returns the finished step of an address; nil = there is none yet.
func (d *decided) step(addr string) *Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steps[addr]
}

// scope returns the states that the expressions of a resource may use.
func (d *decided) scope(addr string, before []string, look func(string) observe.View) config.States {
	return observe.States(append(slices.Clone(before), addr), look, d.subject.Prior)
}

// outlook is look for outputs, checks and preconditions: the state after an update is only known as far as
// it is forecast. The plan must not claim that an output will not change.
func (d *decided) outlook(addr string) observe.View {
	v, step := d.look(addr), d.step(addr)
	if step != nil && (step.Change() == Update || step.Change() == Deferred || step.MayChange) {
		v.State, v.Partial, v.Stays, v.Staying = step.Answer().Forecast, true, false, nil
	}
	return v
}

// finally returns what is known when all is decided; nil = no output or check needs it.
func (d *decided) finally() config.States {
	if d.finalScope == nil && d.subject.Manifest.Concludes() {
		d.finalScope = observe.States(slices.Collect(maps.Keys(d.steps)), d.outlook, d.subject.Prior)
	}
	return d.finalScope
}

// asRecorded returns the scope of the query of an object with its recorded config: of its
// dependencies the recorded states are sent, and else what a finished step lets expect.
func (d *decided) asRecorded() observe.Scope {
	return observe.Scope{Prior: d.subject.Prior, View: observe.RecordedViews(d.subject.Prior, d.look)}
}

// owed returns what a resource is to be notified of.
func owed(b *builder, s *Step, entry state.Entry) []inputs.Change {
	return inputs.Refresh(refresh.Owed(s.Subscribes, entry, b.Prior, updates(b)), b.Prior, updates(b))
}
