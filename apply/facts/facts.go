package facts

import (
	"encoding/json"
	"maps"
	"sync"

	"deployster/config"
	"deployster/internal/places"
	"deployster/internal/runner"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/view"
	"deployster/protocol"
)

// Facts are what has come true so far. Many goroutines write and read them.
type Facts struct {
	plan *plan.Plan

	mu    sync.Mutex // guards what follows
	views map[string]view.View
	// memories are what actions and answers of this apply said; null = nothing is there any more.
	memories map[string]json.RawMessage
	began    map[string]bool             // on what an action was begun
	gone     map[string]bool             // what was destroyed, to be made again
	things   map[string]match.Thing      // what turned out in this apply to be the thing of a resource
	stopped  map[string]*protocol.Answer // whose shutdown_first has run -> what its image answered after that; nil = that is not known
	hosts    map[string]places.Pin       // that became known in this apply, by name
}

// New knows what a plan says, and nothing beyond it.
func New(p *plan.Plan) *Facts {
	return &Facts{plan: p, began: map[string]bool{}, memories: map[string]json.RawMessage{},
		things: map[string]match.Thing{}, views: map[string]view.View{}, gone: map[string]bool{},
		stopped: map[string]*protocol.Answer{}, hosts: map[string]places.Pin{}}
}

// Look gives a resource as it is now known to be; before its turn that is what
// the plan expects.
func (f *Facts) Look(addr string) view.View {
	if v, ok := f.Reached(addr); ok {
		return v
	}
	if step, ok := f.plan.Resources[addr]; ok {
		return step.View()
	}
	return view.View{Partial: true}
}

// Reached gives a resource as it is, and whether its turn has come.
func (f *Facts) Reached(addr string) (view.View, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.views[addr]
	return v, ok
}

// SetReached notes how a resource is, now that its turn has come.
func (f *Facts) SetReached(addr string, v view.View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[addr] = v
}

// Acted reports whether an action was begun on a resource.
func (f *Facts) Acted(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began[addr]
}

// SetActed notes that an action was begun on a resource.
func (f *Facts) SetActed(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began[addr] = true
}

// IsGone reports whether what is there of a resource was destroyed, to be made
// again.
func (f *Facts) IsGone(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[addr]
}

// SetGone notes that what is there of a resource was destroyed.
func (f *Facts) SetGone(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone[addr] = true
	delete(f.memories, addr)
}

// memory gives what was said in this apply of what a resource is to remember, nil when
// nothing of it is there, and whether anything was said.
func (f *Facts) memory(addr string) (memory json.RawMessage, said bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if memory, said = f.memories[addr]; string(memory) == "null" {
		memory = nil
	}
	return memory, said
}

// TellMemory puts into an input what was said in this apply, if anything was, in place
// of what is recorded.
func (f *Facts) TellMemory(in *protocol.StateInput, addr string) {
	if memory, said := f.memory(addr); said {
		in.Memory = memory
	}
}

// SetMemory notes what was said that a resource is to remember.
func (f *Facts) SetMemory(addr string, memory json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memories[addr] = memory
}

// SetHost notes what became known of a host, unless it has the machine of another of those
// that are declared: as that was planned, or turned out to be in this apply.
func (f *Facts) SetHost(h runner.Host, found protocol.HostFacts, declared []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := places.Pin{Address: h.String(), Machine: found.Machine, Facts: &found}
	if f.hosts[h.Name].Machine == found.Machine {
		f.hosts[h.Name] = now
		return nil
	}
	pins := map[string]places.Pin{}
	for _, name := range declared {
		pins[name] = f.plan.Hosts[name]
		if reached, ok := f.hosts[name]; ok {
			pins[name] = reached
		}
	}
	pins[h.Name] = now
	if err := places.SameMachine(pins); err != nil {
		return err
	}
	f.hosts[h.Name] = now
	return nil
}

// Machines are the hosts of the plan, with the machines of those that became known.
func (f *Facts) Machines() map[string]places.Pin {
	f.mu.Lock()
	defer f.mu.Unlock()
	pins := make(map[string]places.Pin, len(f.plan.Hosts)+len(f.hosts)) // a plan without hosts has no map
	maps.Copy(pins, f.plan.Hosts)
	for name, found := range f.hosts {
		if pin := pins[name]; pin.Machine == "" {
			pin.Machine = found.Machine
			pins[name] = pin
		}
	}
	return pins
}

// TellHosts puts into what expressions may know what became known of hosts.
func (f *Facts) TellHosts(s config.States) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, found := range f.hosts {
		s.KnowHost(name, *found.Facts)
	}
}

// Claim notes what turned out to be the thing of a resource.
func (f *Facts) Claim(addr string, t match.Thing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.things[addr] = t
}

// Claims gives what turned out so far to be whose thing.
func (f *Facts) Claims() map[string]match.Thing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.things)
}

// AfterShutdown reports whether a resource's shutdown_first has run, and what its
// image answered after that, if that is known.
func (f *Facts) AfterShutdown(addr string) (after *protocol.Answer, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after, stopped = f.stopped[addr]
	return after, stopped
}

// SetShutdown notes that a resource's shutdown_first has run, and what its image answered
// after that; nil = that is not known.
func (f *Facts) SetShutdown(addr string, after *protocol.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped[addr] = after
}
