package match

import (
	"slices"
	"strings"
)

// Match decides which entry each declared resource has, and what becomes of the other
// entries. It queries no image: where an identity is unclear it guesses (SameConfig), and the
// caller confirms the guess. When a guess does not hold, or an identity turns out to
// differ, the caller matches again (Input.Refute, Input.Withdraw, Input.Learn).
func Match(in Input) Result {
	in = in.sorted()
	m := &matcher{in: in, index: newIndex(in.Declared), taken: make([]bool, len(in.Recorded)), standing: map[string]int{},
		pairs: make([]Pair, len(in.Declared)), identities: make([]string, len(in.Declared))}
	for i, e := range in.Recorded {
		if !e.Deposed {
			m.standing[e.Address] = i
		}
	}
	for i, d := range in.Declared {
		m.pairs[i].Address, m.identities[i] = d.Address, d.identity()
	}
	m.sameObject()
	for _, p := range m.pairs {
		m.exact = append(m.exact, p.Why == Identity)
	}
	m.otherSurroundings()
	m.otherObject()
	m.unchanged()
	m.guess()
	m.sameAddress()
	m.exceptIgnored()
	owners := m.ownersOf()
	m.replacements(owners)
	return Result{Pairs: m.pairs, Ends: m.ends(owners), Duplicates: m.duplicates(), in: in}
}

// matcher pairs declared resources with entries. A paired one takes part in no later rule.
type matcher struct {
	in       Input
	index    index
	standing map[string]int // address -> index of the entry; deposed entries have none
	taken    []bool         // by entry: it is paired

	pairs      []Pair   // by declared resource
	identities []string // by declared resource; "" = unclear
	exact      []bool   // by declared resource: its entry has its identity, env and network
}

// open calls visit with each declared resource that has no entry yet.
func (m *matcher) open(visit func(i int, d Declared)) {
	for i, d := range m.in.Declared {
		if m.pairs[i].Why == Nothing {
			visit(i, d)
		}
	}
}

// entryAt returns the entry at the address of a declared resource, where it is not paired yet.
func (m *matcher) entryAt(d Declared) (at int, e Recorded, ok bool) {
	if at, ok = m.standing[d.Address]; !ok || m.taken[at] {
		return 0, Recorded{}, false
	}
	return at, m.in.Recorded[at], true
}

func (m *matcher) take(declared, recorded int, why Why) {
	e := m.in.Recorded[recorded]
	p := &m.pairs[declared]
	p.Recorded, p.From, p.Why = e.Key, e.Address, why
	m.taken[recorded] = true
	if e.Deposed {
		p.From = e.Key
	}
}

// compare calls Compare for a resource whose identity may not be known yet.
func (d Declared) compare(e Recorded, here bool) (Relation, []Difference) {
	t := d.Thing
	if d.Late {
		t.Type.Names = nil
	}
	return Compare(t, e.Thing, here)
}

// movable reports whether a resource may get the entry of another address by its identity.
func (d Declared) movable() bool { return d.Role == Managed && !d.Thing.Type.Memory }

// movable reports whether an entry may go to another address by its identity.
func (e Recorded) movable() bool { return e.Role == Managed && !e.Thing.Type.Memory }

// sameObject pairs a resource with an entry of equal identity, first at its own address, then at any.
func (m *matcher) sameObject() {
	byIdentity := m.movableEntries(func(t Object) Object { return t })
	m.open(func(i int, d Declared) {
		if d.Role == Publish {
			return
		}
		if at, e, ok := m.entryAt(d); ok && (d.Role == ReadOnly || e.Role == Managed) {
			if relation, _ := d.compare(e, true); relation == Equal {
				m.take(i, at, Identity)
				return
			}
		}
		m.pairElsewhere(i, d, m.identities[i], byIdentity)
	})
}

// movableEntries returns the free entries that may go to another address, by their identities.
func (m *matcher) movableEntries(as func(Object) Object) map[string][]int {
	byIdentity := map[string][]int{}
	for i, e := range m.in.Recorded {
		if !m.taken[i] && e.movable() {
			for _, id := range m.index.recorded(as(e.Thing)) {
				byIdentity[id] = append(byIdentity[id], i)
			}
		}
	}
	return byIdentity
}

// pairElsewhere pairs a resource with an entry of its object at any address.
func (m *matcher) pairElsewhere(declared int, d Declared, id string, byIdentity map[string][]int) {
	if id == "" || !d.movable() {
		return
	}
	for _, at := range byIdentity[id] {
		if !m.taken[at] {
			m.take(declared, at, Identity)
			return
		}
	}
}

// otherSurroundings pairs a resource with an entry of equal kind, names and place but another env, network
// or read-only plug, first at its own address, then at any. It is unknown whether these name the object
// too, so the image is queried with the present ones, and nothing is destroyed.
func (m *matcher) otherSurroundings() {
	m.open(func(i int, d Declared) {
		if at, e, ok := m.entryAt(d); ok && d.movable() && e.movable() && !d.Late && MayBe(d.Thing, e.Thing) {
			m.take(i, at, Address)
			if string(d.Thing.Config) == string(e.Thing.Config) {
				m.pairs[i].Why = Same
			}
		}
	})
	byIdentity := m.movableEntries(Object.bare)
	m.open(func(i int, d Declared) {
		d.Thing = d.Thing.bare()
		m.pairElsewhere(i, d, d.identity(), byIdentity)
	})
}

// otherObject pairs a resource with the entry at its address where both are known to be
// different objects: it is replaced. Both must be Managed.
func (m *matcher) otherObject() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.entryAt(d)
		if !ok || d.Late || !bothKnown(d.Thing, e.Thing) {
			return
		}
		if relation, differences := d.compare(e, true); relation == Differs && e.Role == Managed && d.Role == Managed {
			m.replace(i, at, differences)
		}
	})
}

// replace pairs a resource with the entry of another object.
func (m *matcher) replace(declared, recorded int, differences []Difference) {
	m.take(declared, recorded, Other)
	m.pairs[declared].Differences = differences
}

// unchanged pairs, where the identity is unclear, a resource with the entry at its
// address if the configs are equal.
func (m *matcher) unchanged() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.entryAt(d)
		if !ok || d.Late || d.Role == Publish || e.Role == Publish || string(d.Thing.Config) != string(e.Thing.Config) {
			return
		}
		if relation, _ := d.compare(e, true); relation == Unclear {
			m.take(i, at, Same)
			m.pairs[i].MayStay = d.movable() && d.Thing.place() != e.Thing.place()
		}
	})
}

// guess pairs, where the identity is unclear, a resource with an entry of another address that
// has an equal kind, config, host and writable plugs. Each entry is guessed once. The memory of
// a type goes with the entry: for types with memory a guess is the only way to another address.
func (m *matcher) guess() {
	byConfig, refuted := map[string][]int{}, map[string]bool{}
	for _, d := range m.in.Declared {
		if m.in.Refuted[d.Address] {
			refuted[d.guessGroup()] = true
		}
	}
	for i, e := range m.in.Recorded {
		if !m.taken[i] && e.Role == Managed {
			byConfig[e.Thing.guessKey()] = append(byConfig[e.Thing.guessKey()], i)
		}
	}
	m.open(func(i int, d Declared) {
		if d.Late || d.New || d.Role != Managed || refuted[d.guessGroup()] || m.in.Withdrawn[d.Address] {
			return
		}
		for _, at := range byConfig[d.Thing.guessKey()] {
			if m.taken[at] {
				continue
			}
			if relation, _ := d.compare(m.in.Recorded[at], false); relation == Unclear {
				m.take(i, at, SameConfig)
				return
			}
		}
	})
}

// guessGroup names the guesses that are withdrawn together when one of them does not hold:
// those about one image, as either all its objects are named by address or none is.
func (d Declared) guessGroup() string { return d.Thing.Type.image() }

// guessKey returns what must be equal for a guess, besides the kind.
func (t Object) guessKey() string { return join(t.place(), string(t.Config)) }

// sameAddress pairs the resources that are left with the entries at their addresses. Where
// the identity is unclear, another kind, host or writable plug makes it another object; any
// other difference does not.
func (m *matcher) sameAddress() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.entryAt(d)
		if !ok || (d.Role == Publish) != (e.Role == Publish) {
			return
		}
		if d.Role == ReadOnly && e.Role != ReadOnly && bothKnown(d.Thing, e.Thing) {
			return // the managed entry is of another object, and is left over
		}
		if relation, differences := d.compare(e, true); relation == Differs && d.Role == Managed && e.Role == Managed {
			m.replace(i, at, differences)
			return
		}
		m.take(i, at, Address)
		m.pairs[i].MayStay = d.movable() && e.movable() && d.mayLeave(e)
	})
}

// mayLeave reports whether the object of an entry may stay behind: the identity is not known
// yet, or is unclear and the config has changed, or the object was on another host or behind
// other writable plugs.
func (d Declared) mayLeave(e Recorded) bool {
	switch {
	case d.Late, d.Thing.place() != e.Thing.place():
		return true
	case bothKnown(d.Thing, e.Thing):
		return false
	}
	return string(d.Thing.Config) != string(e.Thing.Config)
}

// bothKnown reports whether the values that name the object are known for both objects.
func bothKnown(declared, recorded Object) bool {
	_, known := declared.values(declared.Type.Names)
	_, too := recorded.values(currentType(declared.Type, recorded.Type).Names)
	return known && too
}

// replacements notes for each resource whether the object of its entry is replaced, and
// which resource owns that object.
func (m *matcher) replacements(o owners) {
	for i, d := range m.in.Declared {
		p := &m.pairs[i]
		p.Replaced = p.Why == Other || d.Replace && p.Recorded != "" && d.Role == Managed
		if !p.Replaced {
			continue
		}
		at, _ := slices.BinarySearchFunc(m.in.Recorded, p.Recorded, func(e Recorded, key string) int { return strings.Compare(e.Key, key) })
		if owner, sure := o.of(m.in.Recorded[at].Thing, d.Address); owner != d.Address {
			p.Owner, p.Unsure = owner, !sure
		}
	}
}

// ends reports what becomes of the entries that no declared resource has.
func (m *matcher) ends(o owners) []End {
	declared := make(map[string]bool, len(m.in.Declared))
	for _, d := range m.in.Declared {
		declared[d.Address] = true
	}
	var list []End
	for i, e := range m.in.Recorded {
		if m.taken[i] {
			continue
		}
		end := End{Recorded: e.Key, Address: e.Address, Forget: e.Role == ReadOnly, Deposed: e.Deposed || declared[e.Address]}
		if owner, sure := o.of(e.Thing, ""); owner != "" && !end.Forget {
			end.Forget, end.Owner, end.Unsure = true, owner, !sure
		}
		list = append(list, end)
	}
	return list
}
