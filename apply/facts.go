package apply

import (
	"encoding/json"
	"maps"
	"sync"

	"deployster/config"
	"deployster/internal/places"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/view"
	"deployster/protocol"
)

// facts are what has come true so far. Many goroutines write and read them.
type facts struct {
	plan *plan.Plan

	mu    sync.Mutex // guards what follows
	views map[string]view.View
	// memories are what actions and answers of this apply said; null = nothing is there any more.
	memories map[string]json.RawMessage
	began    map[string]bool // on what an action was begun
	gone     map[string]bool // what was destroyed, to be made again
	shutdown []ShutdownReport
	things   map[string]match.Thing        // what turned out in this apply to be the thing of a resource
	stopped  map[string]*protocol.Answer   // whose shutdown_first has run -> what its image answered after that; nil = that is not known
	hosts    map[string]protocol.HostFacts // that became known in this apply, by name

	remade remade
}

func newFacts(p *plan.Plan) *facts {
	return &facts{plan: p, began: map[string]bool{}, memories: map[string]json.RawMessage{},
		things: map[string]match.Thing{}, views: map[string]view.View{}, gone: map[string]bool{},
		stopped: map[string]*protocol.Answer{}, hosts: map[string]protocol.HostFacts{}}
}

// look gives a resource as it is now known to be; before its turn that is what
// the plan expects.
func (f *facts) look(addr string) view.View {
	if v, ok := f.reached(addr); ok {
		return v
	}
	if step, ok := f.plan.Resources[addr]; ok {
		return step.View()
	}
	return view.View{Partial: true}
}

// reached gives a resource as it is, and whether its turn has come.
func (f *facts) reached(addr string) (view.View, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.views[addr]
	return v, ok
}

func (f *facts) setReached(addr string, v view.View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[addr] = v
}

// acts reports whether an action was begun on a resource.
func (f *facts) acts(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began[addr]
}

// setActed notes that an action was begun on a resource.
func (f *facts) setActed(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began[addr] = true
}

// isGone reports whether what is there of a resource was destroyed, to be made
// again.
func (f *facts) isGone(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[addr]
}

func (f *facts) setGone(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone[addr] = true
	delete(f.memories, addr)
}

// memory gives what was said in this apply of what a resource is to remember, nil when
// nothing of it is there, and whether anything was said.
func (f *facts) memory(addr string) (memory json.RawMessage, said bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if memory, said = f.memories[addr]; string(memory) == "null" {
		memory = nil
	}
	return memory, said
}

// tellMemory puts into an input what was said in this apply, if anything was, in place
// of what is recorded.
func (f *facts) tellMemory(in *protocol.StateInput, addr string) {
	if memory, said := f.memory(addr); said {
		in.Memory = memory
	}
}

func (f *facts) setMemory(addr string, memory json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memories[addr] = memory
}

func (f *facts) setHost(name string, found protocol.HostFacts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts[name] = found
}

// machines are the hosts of the plan, with the machines of those that became known.
func (f *facts) machines() map[string]places.Pin {
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

// tellHosts puts into what expressions may know what became known of hosts.
func (f *facts) tellHosts(s config.States) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, found := range f.hosts {
		s.KnowHost(name, found)
	}
}

// claim notes what turned out to be the thing of a resource.
func (f *facts) claim(addr string, t match.Thing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.things[addr] = t
}

// claims gives what turned out so far to be whose thing.
func (f *facts) claims() map[string]match.Thing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.things)
}

// afterShutdown reports whether a resource's shutdown_first has run, and what its
// image answered after that, if that is known.
func (f *facts) afterShutdown(addr string) (after *protocol.Answer, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after, stopped = f.stopped[addr]
	return after, stopped
}

func (f *facts) setShutdown(report ShutdownReport, after *protocol.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shutdown = append(f.shutdown, report)
	f.stopped[report.Resource] = after
}

// shutdowns lists the shutdown_first actions that were run.
func (f *facts) shutdowns() []ShutdownReport {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shutdown
}
