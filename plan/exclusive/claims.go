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

// Claims returns what the state of a plan declares on each machine: the objects of types that can list what exists, its
// sets, and what it destroys of them. A machine whose address is not known yet has none.
func Claims(steps map[string]*change.Step, sets []Set, hosts func(name string) *runner.Host,
	schemas typeschema.Reader, dir string) []*Claim {
	all := map[string]*Claim{}
	of := func(h *runner.Host) *Claim {
		key := ""
		if h != nil {
			if key = h.Machine; key == "" {
				key = "name " + h.Name
			}
		}
		if all[key] == nil {
			all[key] = &Claim{Host: h, names: map[claims.Object]string{}}
		}
		return all[key]
	}
	for i := range sets {
		s := &sets[i]
		host := hosts(s.Host)
		if s.Host != "" && (host == nil || host.Address == "") {
			continue
		}
		c := of(host)
		c.Record.Sets = append(c.Record.Sets, claims.Set{Name: s.Name, Kind: s.Kind, Within: s.Within})
	}
	for _, addr := range slices.Sorted(maps.Keys(steps)) {
		step := steps[addr]
		h := step.Settings.Host
		if step.Init.DiscoverAction == nil || step.Publishes || h != nil && h.Address == "" {
			continue
		}
		c := of(h)
		thing := objects.Declared(schemas, step.Type, step.Init, step.Config, step.Settings, runner.MountsIn(dir, step.Mounts))
		kind, id, known := match.IdentityOf(thing)
		if known = known && objects.Known(step.Init, step.Unknown); !known {
			c.Unknown = true
			continue
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
	list := make([]*Claim, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[key])
	}
	return list
}
