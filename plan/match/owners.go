package match

// owners says which declared resource a thing belongs to. What belongs to one is
// never destroyed because an entry of another is left over or replaced.
type owners struct {
	index      index
	byIdentity map[string]string
	unsaid     map[string]Declared // by identity without the kind
	guessed    map[string][]Declared
}

func (m *matcher) ownersOf() owners {
	o := owners{index: m.index, byIdentity: map[string]string{}, unsaid: map[string]Declared{}, guessed: map[string][]Declared{}}
	for i, d := range m.in.Declared {
		if d.Role == Publish || d.Thing.Type.Memory || d.Late {
			continue
		}
		if id := m.identities[i]; id != "" && o.byIdentity[id] == "" {
			o.byIdentity[id], o.unsaid[d.Thing.unsaid()] = d.Address, d
		}
		if m.pairs[i].Why == SameConfig {
			like := d.Thing.likeness()
			o.guessed[like] = append(o.guessed[like], d)
		}
	}
	return o
}

// of is the declared resource that a recorded thing belongs to: by its identity;
// where nobody says the kind, by all else of it; where nobody can tell, by the config
// of a resource whose guess holds. "" = nobody's.
func (o owners) of(t Thing) string {
	if t.Type.Memory {
		return ""
	}
	for _, id := range o.index.recorded(t) {
		if owner := o.byIdentity[id]; owner != "" {
			return owner
		}
	}
	if d, there := o.unsaid[t.unsaid()]; there && compareKinds(d.Thing.Type, t.Type) == Unclear {
		return d.Address
	}
	for _, d := range o.guessed[t.likeness()] {
		if relation, _ := d.compare(Recorded{Thing: t}, false); relation != Differs {
			return d.Address
		}
	}
	return ""
}
