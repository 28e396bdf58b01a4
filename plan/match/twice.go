package match

// duplicates finds the objects that two blocks declare, even with different images. Only
// Managed resources count.
func (m *matcher) duplicates() []Duplicate {
	var found []Duplicate
	alike := map[string][]Declared{} // by values and surroundings; the kinds may differ
	for i, d := range m.in.Declared {
		if m.identities[i] == "" || d.Role != Managed {
			continue
		}
		values, _ := d.Thing.values(d.Thing.Type.Names)
		id := join(join(values...), d.Thing.surroundings())
		if other := d.among(alike[id]); other != "" {
			found = append(found, Duplicate{other, d.Address})
		} else {
			alike[id] = append(alike[id], d)
		}
	}
	return found
}

// among returns the address of the resource in a list that means the same object as d; "" = none.
func (d Declared) among(list []Declared) string {
	for _, other := range list {
		if Means(d.Thing.Named(), other.Thing.Named()) {
			return other.Address
		}
	}
	return ""
}
