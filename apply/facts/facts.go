package facts

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/match"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/protocol"
)

// Facts are what has become known so far in an apply. Many goroutines write and read them.
type Facts struct {
	plan *plan.Plan

	mu    sync.Mutex // guards the fields below
	views map[string]observe.View
	// sensitive are JSON pointers into the configs of the views.
	sensitive map[string][]string
	// memories come from actions and answers of this apply; null = the object no longer exists.
	memories map[string]json.RawMessage
	began    map[string]bool // resources on which an action was started; true = one that creates it
	gone     map[string]bool // resources whose old things were destroyed
	begun    map[string]bool // nodes, of plan.Nodes, that were carried out, or of which a part was
	// again has the resources to ask again, since others of their kind were destroyed, and
	// their answers; nil = not queried yet.
	again   map[string]*protocol.Answer
	things  map[string]match.Object     // things that became known in this apply, by resource
	finder  match.Finder                // finds these things, without their types' memory
	stopped map[string]*protocol.Answer // resource whose shutdown_first was run -> the answer after that; nil = not known
	hosts   map[string]router.Pin       // hosts that became known in this apply, by name
	types   map[string]protocol.Type    // types that became known in this apply, by resource
	applied map[string]protocol.Fingerprints
}

// New returns facts with what a plan declares, and nothing more.
func New(p *plan.Plan) *Facts {
	return &Facts{plan: p, began: map[string]bool{}, memories: map[string]json.RawMessage{},
		things: map[string]match.Object{}, views: map[string]observe.View{}, sensitive: map[string][]string{}, gone: map[string]bool{},
		begun: map[string]bool{}, again: map[string]*protocol.Answer{},
		stopped: map[string]*protocol.Answer{}, hosts: map[string]router.Pin{}, types: map[string]protocol.Type{},
		applied: map[string]protocol.Fingerprints{}}
}

// Look returns a resource as it is known to be: before it is done, that is what the plan
// expects.
func (f *Facts) Look(addr string) observe.View {
	if v, ok := f.Reached(addr); ok {
		return v
	}
	if step, ok := f.plan.Resources[addr]; ok {
		return step.View()
	}
	return observe.View{Partial: true}
}

// Reached returns a resource as it was reached in this apply; false = it was not yet.
func (f *Facts) Reached(addr string) (observe.View, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.views[addr]
	return v, ok
}

// SetReached notes how a resource is, when it was reached. Its config is sensitive at these JSON pointers.
func (f *Facts) SetReached(addr string, v observe.View, sensitive []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[addr], f.sensitive[addr] = v, sensitive
}

// Lose notes that a resource is not any more as it was reached: what was done to it was undone.
func (f *Facts) Lose(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.views, addr)
	delete(f.sensitive, addr)
	delete(f.gone, addr)
}

// Sensitive returns the JSON pointers into the config of a reached resource to values that must not be shown.
func (f *Facts) Sensitive(addr string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sensitive[addr]
}

// Acted reports whether an action was started on a resource.
func (f *Facts) Acted(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, began := f.began[addr]
	return began
}

// Created reports whether an action that creates a resource was started.
func (f *Facts) Created(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.began[addr]
}

// SetActed notes that an action was started on a resource, and whether it creates that.
func (f *Facts) SetActed(addr string, creates bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began[addr] = f.began[addr] || creates
}

// TypeOf returns the type of a resource, from the plan or from this apply; the zero Type = it is not known.
func (f *Facts) TypeOf(addr string) protocol.Type {
	if step := f.plan.Resources[addr]; step != nil && !step.Undescribed() {
		return step.Init
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.types[addr]
}

// SetType notes the type of a resource that the plan could not know.
func (f *Facts) SetType(addr string, ty protocol.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.types[addr] = ty
}

// IsGone reports whether the recorded object of a resource was destroyed in this apply, or
// in an earlier run of the plan.
func (f *Facts) IsGone(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[addr]
}

// SetGone notes that the recorded object of a resource was destroyed.
func (f *Facts) SetGone(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone[addr] = true
	delete(f.memories, addr)
}

// memory returns the memory of a resource from this apply, nil when its object no longer
// exists, and whether there was any.
func (f *Facts) memory(addr string) (memory json.RawMessage, said bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if memory, said = f.memories[addr]; string(memory) == "null" {
		memory = nil
	}
	return memory, said
}

// TellMemory puts the memory from this apply, if there is any, into an input, in place
// of the recorded one.
func (f *Facts) TellMemory(in *protocol.StateInput, addr string) {
	if memory, said := f.memory(addr); said {
		in.Memory = memory
	}
}

// SetMemory notes the memory of a resource from an action or an answer.
func (f *Facts) SetMemory(addr string, memory json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memories[addr] = memory
}

// SetHost notes what became known of a host. It returns an error if another declared host
// has the same machine, as planned or as it became known in this apply.
func (f *Facts) SetHost(h runner.Host, found protocol.HostFacts, declared []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := router.Pin{Address: h.String(), Machine: found.Machine, Facts: &found}
	if f.hosts[h.Name].Machine == found.Machine {
		f.hosts[h.Name] = now
		return nil
	}
	pins := map[string]router.Pin{}
	for _, name := range declared {
		pins[name] = f.plan.Hosts[name]
		if reached, ok := f.hosts[name]; ok {
			pins[name] = reached
		}
	}
	pins[h.Name] = now
	if err := router.SameMachine(pins); err != nil {
		return err
	}
	f.hosts[h.Name] = now
	return nil
}

// Machines returns the hosts of the plan, with the machines that became known.
func (f *Facts) Machines() map[string]router.Pin {
	f.mu.Lock()
	defer f.mu.Unlock()
	pins := make(map[string]router.Pin, len(f.plan.Hosts)+len(f.hosts)) // a plan without hosts has no map
	maps.Copy(pins, f.plan.Hosts)
	for name, found := range f.hosts {
		if pin := pins[name]; pin.Machine == "" {
			pin.Machine = found.Machine
			pins[name] = pin
		}
	}
	return pins
}

// Host returns the facts of a host, as far as they are known; nil = they are not.
func (f *Facts) Host(of *runner.Host) *protocol.HostFacts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of == nil {
		return nil
	}
	if found, late := f.hosts[of.Name]; late {
		return found.Facts
	}
	return f.plan.Hosts[of.Name].Facts
}

// TellHosts adds the facts of the hosts that became known to the scope of expressions.
func (f *Facts) TellHosts(s config.States) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, found := range f.hosts {
		s.KnowHost(name, *found.Facts)
	}
}

// Claim notes the object that a resource turned out to mean.
func (f *Facts) Claim(addr string, t match.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.things[addr] = t
	f.finder.Add(addr, t.Named())
}

// Claimant returns another resource that turned out to mean the same object; "" = none.
func (f *Facts) Claimant(addr string, t match.Object) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.finder.Find(t.Named(), func(other string, of match.Object) bool { return other != addr && match.Means(t.Named(), of) })
}

// Claims returns the things that resources turned out to mean so far, by address.
func (f *Facts) Claims() map[string]match.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.things)
}

// SetBegun notes that a node was carried out, or a part of it.
func (f *Facts) SetBegun(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun[node] = true
}

// Pass notes that a barrier is reached: what it lists is to be queried again, if a node before
// it was begun.
func (f *Facts) Pass(b order.Barrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(b.After, func(node string) bool { return f.begun[node] }) {
		for _, addr := range b.Again {
			f.again[addr] = nil
		}
	}
}

// AskAgain reports whether a resource is to be queried again.
func (f *Facts) AskAgain(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ask := f.again[addr]
	return ask
}

// SetAnswered notes what a resource that was queried again answered.
func (f *Facts) SetAnswered(addr string, answer protocol.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again[addr] = &answer
}

// Answered returns what a resource that was queried again answered; nil = it was not queried.
func (f *Facts) Answered(addr string) *protocol.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.again[addr]
}

// AfterShutdown returns what the image answered after a resource's shutdown_first, nil if
// that is not known, and whether the shutdown_first was run.
func (f *Facts) AfterShutdown(addr string) (after *protocol.Answer, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after, stopped = f.stopped[addr]
	return after, stopped
}

// SetShutdown notes that a resource's shutdown_first was run, and what its image answered
// after that; nil = that is not known.
func (f *Facts) SetShutdown(addr string, after *protocol.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped[addr] = after
}
