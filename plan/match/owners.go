package match

import "slices"

// owners reports which declared resource an object belongs to. An object that belongs to one is
// never destroyed because the entry of another is left over or replaced.
type owners struct {
	index      index
	byIdentity map[string]string
	bare       map[string][]string // by identity without env, network and read-only plugs
	unsaid     map[string]Declared // by that identity without the kind
	guessed    map[string][]Declared
}

func (m *matcher) ownersOf() owners {
	o := owners{index: m.index, byIdentity: map[string]string{}, bare: map[string][]string{},
		unsaid: map[string]Declared{}, guessed: map[string][]Declared{}}
	for i, d := range m.in.Declared {
		if d.Role == Publish || d.Thing.Type.Memory || d.Late {
			continue
		}
		if id := m.identities[i]; id != "" && o.byIdentity[id] == "" {
			o.byIdentity[id], o.unsaid[d.Thing.bare().unsaid()] = d.Address, d
		}
		// An exact entry of its own was recorded next to the other, so the resource does not own that one.
		if id := d.Thing.bare().identity(d.Thing.Type, d.Thing.Type.Names); id != "" && !m.exact[i] {
			o.bare[id] = append(o.bare[id], d.Address)
		}
		if m.pairs[i].Why == SameConfig {
			like := d.Thing.guessKey()
			o.guessed[like] = append(o.guessed[like], d)
		}
	}
	return o
}

// of returns the declared resource that a recorded object belongs to; "" = none. It searches for one with
// the same identity; else with another env, network or read-only plug, and prefers the one at the given
// address; else with another kind, where a kind is not declared; else, where the identity is unclear, with
// the guessed config. Sure is false where env, network or read-only plugs differ, as these may name
// the object too.
func (o owners) of(t Object, address string) (owner string, sure bool) {
	if t.Type.Memory {
		return "", true
	}
	for _, id := range o.index.recorded(t) {
		if owner := o.byIdentity[id]; owner != "" {
			return owner, true
		}
	}
	for _, id := range o.index.recorded(t.bare()) {
		switch list := o.bare[id]; {
		case slices.Contains(list, address):
			return address, false
		case len(list) > 0:
			return list[0], false
		}
	}
	if d, there := o.unsaid[t.bare().unsaid()]; there && compareKinds(d.Thing.Type, t.Type) == Unclear {
		return d.Address, d.Thing.surroundings() == t.surroundings()
	}
	for _, d := range o.guessed[t.guessKey()] {
		if relation, _ := d.compare(Recorded{Thing: t}, false); relation != Differs {
			return d.Address, true
		}
	}
	return "", true
}
