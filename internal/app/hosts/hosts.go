package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/protocol"
	"deployster/state"
)

// Reached has the answers of hosts, and the errors of those that are unreachable.
type Reached struct {
	Facts      map[string]protocol.HostFacts
	Pins       map[string]router.Pin
	Conditions map[string]Condition
	Namespaces map[string]*remote.Namespace // what the namespaces of clusters enforce
	Pending    map[string][]string          // by host: resources whose guarded actions are neither confirmed nor undone
}

// Condition is the condition of a host that no plan depends on.
type Condition struct {
	Slow time.Duration `json:"clock_ns,omitempty"` // by how much its clock is behind the one here
	Runc string        `json:"runc,omitempty"`     // its version; "" = unknown
	Free int64         `json:"free_bytes,omitempty"`
	// Printed is what its login printed before the connection was ready, safe to show.
	Printed string `json:"printed,omitempty"`
}

// Resident has the resources on a host.
type Resident struct {
	Host      runner.Host
	Addresses []string
	Was       string // the name that Host has in the state, if another machine has that name now
}

func (r *Resident) add(addr string) {
	if !slices.Contains(r.Addresses, addr) {
		r.Addresses = append(r.Addresses, addr)
	}
}

// Declared returns the resources that are declared to be on each host, by the name of the host.
func Declared(m *config.Manifest) map[string]*Resident {
	on := map[string]*Resident{}
	for _, h := range m.Hosts() {
		on[h.Name] = &Resident{Host: h.Host}
	}
	for _, r := range m.Resources() {
		if h := r.Settings.Host; h != nil {
			on[h.Name].add(r.Address)
		}
	}
	return on
}

// Reachable returns the declared hosts whose address is known.
func Reachable(m *config.Manifest) []runner.Host {
	var list []runner.Host
	for _, h := range m.Hosts() {
		if h.Address != "" {
			list = append(list, h.Host)
		}
	}
	return list
}

// Planned returns the hosts of the resources of a plan, as far as their address is known.
func Planned(p *plan.Plan) []runner.Host {
	var list []runner.Host
	for _, addr := range sorted(p.Resources) {
		if h := p.Resources[addr].Settings.Host; h != nil && h.Address != "" {
			list = append(list, *h)
		}
	}
	return list
}

// Former adds the recorded resources to on, at the host that their machine is today. It
// returns the hosts that only the state has: as far as it records machines, none of them
// is a declared host. Where another machine answers under the name of a recorded host,
// the recorded host is returned too if it was reached in another way.
func (f Reached) Former(on map[string]*Resident, prior state.Snapshot) map[string]*Resident {
	former, names := map[string]*Resident{}, f.names()
	recorded := map[string]*runner.Host{} // by address
	for addr, e := range prior.Resources {
		if e.Settings.Host != nil {
			recorded[addr] = e.Settings.Host
		}
	}
	for _, addr := range sorted(recorded) {
		h := recorded[addr]
		name, was := cmp.Or(names[h.Machine], h.Name), ""
		if f.Pins[h.Name].Machine == h.Machine {
			name = h.Name // several hosts may be one namespace of a cluster
		}
		if at := on[name]; at != nil && f.another(*h, name) && !at.Host.SameWay(*h) {
			name, was = fmt.Sprintf("%s (formerly %s)", h.Name, h), h.Name
		}
		at := on[name]
		if at == nil {
			if at = former[name]; at == nil {
				at = &Resident{Host: *h, Was: was}
				at.Host.Name = name
				former[name] = at
			}
		}
		at.add(addr)
	}
	return former
}

// another reports whether the machine that answers under a name is not the recorded one.
func (f Reached) another(recorded runner.Host, name string) bool {
	answers := f.Pins[name].Machine
	return recorded.Machine != "" && answers != "" && answers != recorded.Machine
}

// names returns the names of the hosts that answered, by machine; of several the first.
func (f Reached) names() map[string]string {
	found := map[string]string{}
	for name, pin := range f.Pins {
		if first := found[pin.Machine]; pin.Machine != "" && (first == "" || name < first) {
			found[pin.Machine] = name
		}
	}
	return found
}

// Add adds former hosts with their answers. A former host whose machine is a declared
// host's counts as that host. Where the recorded machine does not answer any more, and
// another one has its name, its resources count as on the host of that name.
func (f Reached) Add(on, former map[string]*Resident, found Reached) {
	names := f.names()
	for _, name := range sorted(former) {
		if r := former[name]; r.Was != "" && found.Pins[name].Machine != r.Host.Machine {
			for _, addr := range r.Addresses {
				on[r.Was].add(addr)
			}
			continue
		}
		f.Pins[name] = found.Pins[name]
		if today := names[found.Pins[name].Machine]; today == "" {
			on[name] = former[name]
		} else {
			for _, addr := range former[name].Addresses {
				on[today].add(addr)
			}
		}
	}
}

// Lost returns the resources whose machine does not answer, and may be an unreachable host: the
// state records it as that host's machine, or records no machine for some unreachable host.
func (f Reached) Lost(on map[string]*Resident, prior state.Snapshot) []string {
	down, known := map[string]bool{}, map[string]bool{} // the unreachable ways, and those with a recorded machine
	for name, pin := range f.Pins {
		if pin.Unreachable != "" {
			down[way(on[name].Host)] = true
		}
	}
	if len(down) == 0 {
		return nil
	}
	names, behind := f.names(), map[string]bool{} // the recorded machines at the unreachable ways; "" = any may be
	for _, e := range prior.Resources {
		if h := e.Settings.Host; h != nil && h.Machine != "" && down[way(*h)] {
			behind[h.Machine] = true
			known[way(*h)] = true
		}
	}
	behind[""] = len(known) < len(down)
	var list []string
	for _, addr := range sorted(prior.Resources) {
		h := prior.Resources[addr].Settings.Host
		if h != nil && h.Machine != "" && names[h.Machine] == "" && (behind[""] || behind[h.Machine]) {
			list = append(list, addr)
		}
	}
	return list
}

// way returns the settings that declare how a host is reached, as JSON: two hosts with equal settings
// have the same way, also where a setting is a pointer.
func way(h runner.Host) string {
	h.Name, h.Machine, h.UndoUnlessReached = "", "", 0
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Sprintf("%s: %s", h, err) // not met: every field has a form in JSON
	}
	return string(text)
}

// Greet connects to hosts, atOnce of them concurrently; 0 = order.Hosts.
func Greet(ctx context.Context, p *router.Places, on map[string]*Resident, atOnce int) Reached {
	found := Reached{Facts: map[string]protocol.HostFacts{}, Pins: map[string]router.Pin{}, Conditions: map[string]Condition{},
		Namespaces: map[string]*remote.Namespace{}, Pending: map[string][]string{}}
	for name, r := range on {
		if r.Host.Address == "" { // it depends on values not known yet
			found.Pins[name] = router.Pin{Address: r.Host.String()}
		}
	}
	var mu sync.Mutex
	each(on, atOnce, func(name string, r *Resident) {
		welcome, err := p.Welcome(ctx, r.Host)
		mu.Lock()
		defer mu.Unlock()
		pin := router.Pin{Address: r.Host.String()}
		if err != nil {
			pin.Unreachable = ReasonOf(err)
		} else {
			facts := welcome.Facts
			pin.Machine, pin.Facts = facts.Machine, &facts
			found.Facts[name], found.Namespaces[name] = facts, welcome.Namespace
			found.Conditions[name] = Condition{Slow: time.Since(welcome.Clock), Runc: welcome.Runc, Free: welcome.Free,
				Printed: welcome.Printed}
			if len(welcome.Pending) > 0 {
				found.Pending[name] = welcome.Pending
			}
		}
		found.Pins[name] = pin
	})
	return found
}

// each calls do for the hosts whose address is known, atOnce of them concurrently; 0 =
// order.Hosts.
func each(on map[string]*Resident, atOnce int, do func(name string, r *Resident)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, cmp.Or(atOnce, order.Hosts))
	for name, r := range on {
		if r.Host.Address != "" {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				do(name, r)
			})
		}
	}
	wait.Wait()
}

// Check refuses a plan whose hosts are other machines now, or whose plugs there are gone.
// An unreachable host fails later, when it is processed.
func Check(ctx context.Context, at *router.Places, p *plan.Plan, on map[string]*Resident) error {
	var mu sync.Mutex
	wrong := map[string]error{}
	each(on, 0, func(name string, r *Resident) {
		welcome, err := at.Welcome(ctx, r.Host)
		if err != nil {
			return
		}
		if err = p.Hosts[name].Check(name, welcome); err != nil {
			err = diag.Errorf("plan is stale: a host is another machine", "%s. Plan again.", err)
		} else {
			err = checkPlugs(ctx, at, p, r)
		}
		mu.Lock()
		defer mu.Unlock()
		wrong[name] = err
	})
	for _, name := range sorted(wrong) {
		if wrong[name] != nil {
			return wrong[name]
		}
	}
	return nil
}

// ReasonOf returns why a host cannot be used, without its name.
func ReasonOf(err error) string {
	if of, ok := errors.AsType[*runner.HostError](err); ok {
		err = of.Err
	}
	return diag.Visible(err.Error())
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
