package match

import "slices"

// Finder finds things by the values of their names. Its zero value has no things.
type Finder struct {
	things map[string]Object // by address
	views  map[string]*typeIndex
}

// typeIndex has the things of a Finder as one type sees them.
type typeIndex struct {
	as        Type
	addresses map[string][]string // by the values of the names
}

// Add adds the object of a resource, or replaces it.
func (f *Finder) Add(addr string, t Object) {
	if f.things == nil {
		f.things, f.views = map[string]Object{}, map[string]*typeIndex{}
	}
	f.things[addr] = t
	for _, s := range f.views {
		s.add(addr, t)
	}
}

// Find returns the first address, in order, whose object has the names of t, as t's type sees
// both, and for which is holds; "" = none. Only such things can be Equal to t.
func (f *Finder) Find(t Object, is func(addr string, other Object) bool) string {
	values, known := t.values(t.Type.Names)
	if !known || f.things == nil {
		return ""
	}
	id := t.Type.view()
	if f.views[id] == nil {
		s := &typeIndex{as: t.Type, addresses: map[string][]string{}}
		for addr, other := range f.things {
			s.add(addr, other)
		}
		f.views[id] = s
	}
	for _, addr := range slices.Sorted(slices.Values(f.views[id].addresses[join(values...)])) {
		if is(addr, f.things[addr]) {
			return addr
		}
	}
	return ""
}

func (s *typeIndex) add(addr string, t Object) {
	if values, known := t.values(currentType(s.as, t.Type).Names); known {
		id := join(values...)
		s.addresses[id] = append(s.addresses[id], addr)
	}
}
