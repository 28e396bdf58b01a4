package exclusive

import (
	"maps"
	"slices"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/state"
)

// Claim is what a state declares on one machine.
type Claim struct {
	Host    *runner.Host // nil = this machine
	Record  claims.Record
	Unknown bool // the identity of a declared object is not known yet
	names   map[claims.Object]string
}

// Name returns the address of an object of a claim.
func (c *Claim) Name(o claims.Object) string { return c.names[o] }

// Declared is what Claims are made from.
type Declared struct {
	Steps    map[string]*change.Step
	Sets     []Set
	Recorded map[string]state.Entry         // what is recorded by now: the identities of what was deferred are known then
	Host     func(name string) *runner.Host // returns a declared host; nil = no host has that name
	Schemas  typeschema.Reader
	Dir      string // where mounts with a relative source begin

	all map[string]*Claim
}

// Claims returns what the state of a plan declares on each machine: the objects of types that can list what exists, its
// sets, and what it destroys of them. A machine whose address is not known yet has none.
func (d *Declared) Claims() []*Claim {
	d.all = map[string]*Claim{}
	for i := range d.Sets {
		s := &d.Sets[i]
		host := d.Host(s.Host)
		if s.Host != "" && (host == nil || host.Address == "") {
			continue
		}
		c := d.on(host)
		c.Record.Sets = append(c.Record.Sets, claims.Set{Name: s.Name, Kind: s.Kind, Within: s.Within})
	}
	for _, addr := range slices.Sorted(maps.Keys(d.Steps)) {
		if step := d.Steps[addr]; step.Init.DiscoverAction != nil && !step.Publishes {
			d.add(addr, step)
		}
	}
	list := make([]*Claim, 0, len(d.all))
	for _, key := range slices.Sorted(maps.Keys(d.all)) {
		list = append(list, d.all[key])
	}
	return list
}

// on returns the claim on a machine.
func (d *Declared) on(h *runner.Host) *Claim {
	key := ""
	if h != nil {
		if key = h.Machine; key == "" {
			key = "name " + h.Name
		}
	}
	if d.all[key] == nil {
		d.all[key] = &Claim{Host: h, names: map[claims.Object]string{}}
	}
	return d.all[key]
}

// add adds the object of a resource.
func (d *Declared) add(addr string, step *change.Step) {
	h := step.Settings.Host
	thing := objects.Declared(d.Schemas, step.Type, step.Init, step.Config, step.Settings, runner.MountsIn(d.Dir, step.Mounts))
	kind, id, known := match.IdentityOf(thing)
	known = known && objects.Known(step.Init, step.Unknown)
	if entry, recorded := d.Recorded[addr]; recorded && !known {
		h = entry.Settings.Host
		_, id, known = match.IdentityOf(objects.Recorded(entry))
	}
	if h != nil && h.Address == "" {
		return
	}
	c := d.on(h)
	if !known {
		c.Unknown = true
		return
	}
	o := claims.ObjectOf(kind, id)
	c.names[o] = addr
	switch destroys := step.Change() == observe.Destroy; {
	case destroys && step.Exclusive != "":
		c.Record.Purges = append(c.Record.Purges, o)
	case !destroys && step.Change() != observe.Forget && step.Exclusive == "":
		c.Record.Objects = append(c.Record.Objects, o)
	}
}
