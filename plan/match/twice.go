package match

// twice finds the things that two blocks declare, whatever images these are of. Those
// that only look are exempt.
func (m *matcher) twice() []Twice {
	var found []Twice
	alike := map[string][]Declared{} // of equal values: a few kinds of things
	for i, d := range m.in.Declared {
		if m.identities[i] == "" || d.Role != Managed {
			continue
		}
		values, _ := d.Thing.values(d.Thing.Type.Names)
		id := join(join(values...), d.Thing.surroundings())
		if other := d.among(alike[id]); other != "" {
			found = append(found, Twice{other, d.Address})
		} else {
			alike[id] = append(alike[id], d)
		}
	}
	return found
}

// among gives the resource of a list that means the thing which d means; "" = none.
func (d Declared) among(list []Declared) string {
	for _, other := range list {
		if relation, _ := Compare(d.Thing.Named(), other.Thing.Named(), false); relation == Equal {
			return other.Address
		}
	}
	return ""
}
