package plan

import (
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/plan/subject"
	"deployster/plan/view"
	"deployster/protocol"
)

// View is the expectation that a step gives its dependants. What an update
// will leave behind is taken from its forecast, else from what is there now.
func (s *Step) View() view.View {
	v := view.View{Type: s.Type, Config: s.Config, Aliases: s.Aliases, Partial: true, Hidden: s.Hidden, Schema: s.Init.StateSchema}
	for _, a := range s.Actions {
		v.Actions = append(v.Actions, a.Name)
	}
	switch s.Change {
	case Valid:
		v.State, v.Status, v.Partial = s.State, protocol.Valid, s.MayChange
		if v.Stays = s.MayChange; v.Stays {
			v.Staying = jsondoc.TopLevel(s.State, nil)
		}
	case Record, Left: // nothing will be done: what was found is what there is
		v.State, v.Status, v.Partial = s.State, protocol.Valid, false
		if s.State == nil {
			v.State, v.Status, v.Partial = s.Stale, protocol.Stale, true
		}
	case Update, Deferred:
		if v.State, v.Status = s.Forecast, protocol.Missing; s.Stale == nil {
			break
		}
		v.State, v.Status, v.Stays = jsondoc.Without(view.Overlay(s.Stale, s.Forecast), s.UnknownNew), protocol.Stale, true
		v.Unknown, v.Staying = s.UnknownNew, jsondoc.TopLevel(s.Stale, s.Forecast)
	default:
		v.State, v.Status = s.Forecast, protocol.Missing
	}
	return v
}

// decided is what a Build has decided so far.
type decided struct {
	subject *subject.Subject

	finalScope config.States // what is known when all is decided; nil = nobody has asked

	mu       sync.Mutex // guards what follows: resources are asked in parallel
	steps    map[string]*Step
	pins     map[string]string // address -> its Pin, of those that were asked in parallel
	triggers map[string]string // by the address of what replace_triggered_by replaces: why
}

func newDecided(s *subject.Subject) *decided {
	size := len(s.Manifest.Resources())
	return &decided{subject: s, steps: make(map[string]*Step, size), pins: make(map[string]string, size),
		triggers: map[string]string{}}
}

// look gives the expectation that a finished step leaves for its dependants.
func (d *decided) look(addr string) view.View {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.steps[addr]; ok {
		return s.View()
	}
	return view.View{Partial: true}
}

// step gives one finished step.
func (d *decided) step(addr string) *Step {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steps[addr]
}

// scope is what the expressions of a resource may know.
func (d *decided) scope(addr string, before []string, look func(string) view.View) config.States {
	return view.Scope(append(slices.Clone(before), addr), look, d.subject.Prior)
}

// outlook is look for outputs, checks and preconditions: what an update leaves behind is only known as far
// as it is forecast. That an output will not change must not be claimed.
func (d *decided) outlook(addr string) view.View {
	v, step := d.look(addr), d.step(addr)
	if step != nil && (step.Change == Update || step.Change == Deferred || step.MayChange) {
		v.State, v.Partial, v.Stays, v.Staying = step.Forecast, true, false, nil
	}
	return v
}

// finally is what is known when all is decided, for those who ask for it.
func (d *decided) finally() config.States {
	if d.finalScope == nil && d.subject.Manifest.Concludes() {
		d.finalScope = view.Scope(slices.Collect(maps.Keys(d.steps)), d.outlook, d.subject.Prior)
	}
	return d.finalScope
}
