package config

import (
	"maps"
	"slices"
)

// Reach is what a value is made of.
type Reach struct {
	Resources []string // addresses, sorted
	WaitsFor  []string // blocks of Pending, sorted: instances of theirs are among it
}

// outputReach says of each output what its value and its preconditions are made
// of, by name.
func (m *instances) outputReach() map[string]Reach {
	found := map[string]Reach{}
	e := m.evaluator(nil)
	e.dry = true
	r := &reacher{e: e, done: map[memoKey]*reach{}}
	for name, b := range m.top.block.outputs {
		in := &reach{}
		if a := b.attrs["value"]; a != nil {
			r.expr(a.Expr, m.top.site(), in)
		}
		for _, c := range b.before {
			r.expr(c.expr, m.top.site(), in)
			r.expr(c.message, m.top.site(), in)
		}
		found[name] = Reach{in.addresses(), slices.Sorted(maps.Keys(in.waits))}
	}
	return found
}
