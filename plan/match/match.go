package match

import (
	"slices"
	"strings"
)

// Match decides which entry each declared resource has, and what becomes of the
// others. It asks nobody: what nobody can tell is guessed, and the guesses (SameConfig)
// are to be confirmed. When one does not hold, or when an identity turns out
// to be another, matching begins again (Input.Refute, Input.Learn).
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
	m.sameThing()
	for _, p := range m.pairs {
		m.exact = append(m.exact, p.Why == Identity)
	}
	m.otherAround()
	m.otherThing()
	m.unchanged()
	m.guess()
	m.sameAddress()
	m.butIgnored()
	owners := m.ownersOf()
	m.replacements(owners)
	return Result{Pairs: m.pairs, Ends: m.ends(owners), Twice: m.twice(), in: in}
}

// matcher holds declared resources and entries together. Who is matched is out.
type matcher struct {
	in       Input
	index    index
	standing map[string]int // address -> entry, but for those that are deposed
	taken    []bool         // entries

	pairs      []Pair   // as the declared resources
	identities []string // the same; "" = nobody can tell
	exact      []bool   // the same: it has an entry with its identity, env and network
}

// open visits the declared resources that have no entry yet.
func (m *matcher) open(visit func(i int, d Declared)) {
	for i, d := range m.in.Declared {
		if m.pairs[i].Why == Nothing {
			visit(i, d)
		}
	}
}

// own is the entry at the address of a declared resource, where it is still free.
func (m *matcher) own(d Declared) (at int, e Recorded, ok bool) {
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

// compare is Compare for a resource whose identity may not be known yet.
func (d Declared) compare(e Recorded, here bool) (Relation, []Difference) {
	t := d.Thing
	if d.Late {
		t.Type.Names = nil
	}
	return Compare(t, e.Thing, here)
}

// travels reports whether a resource may have the entry of another address by what it is.
func (d Declared) travels() bool { return d.Role == Managed && !d.Thing.Type.Memory }

// travels reports whether an entry may go to another address by what it is.
func (e Recorded) travels() bool { return e.Role == Managed && !e.Thing.Type.Memory }

// sameThing pairs what has an equal identity: first at the same address, then at any.
func (m *matcher) sameThing() {
	byIdentity := m.travelling(func(t Thing) Thing { return t })
	m.open(func(i int, d Declared) {
		if d.Role == Publish {
			return
		}
		if at, e, ok := m.own(d); ok && (d.Role == ReadOnly || e.Role == Managed) {
			if relation, _ := d.compare(e, true); relation == Equal {
				m.take(i, at, Identity)
				return
			}
		}
		m.fetch(i, d, m.identities[i], byIdentity)
	})
}

// travelling are the entries that may go to another address, by their identities.
func (m *matcher) travelling(as func(Thing) Thing) map[string][]int {
	byIdentity := map[string][]int{}
	for i, e := range m.in.Recorded {
		if !m.taken[i] && e.travels() {
			for _, id := range m.index.recorded(as(e.Thing)) {
				byIdentity[id] = append(byIdentity[id], i)
			}
		}
	}
	return byIdentity
}

// fetch pairs a resource with the entry of its thing at whatever address.
func (m *matcher) fetch(declared int, d Declared, id string, byIdentity map[string][]int) {
	if id == "" || !d.travels() {
		return
	}
	for _, at := range byIdentity[id] {
		if !m.taken[at] {
			m.take(declared, at, Identity)
			return
		}
	}
}

// otherAround pairs what is of one kind, name and place, and has another env, network or
// plug that is only read: first at the same address, then at any. Nobody can tell whether these name
// the thing too, so it is asked with those of now, and none of it is destroyed.
func (m *matcher) otherAround() {
	m.open(func(i int, d Declared) {
		if at, e, ok := m.own(d); ok && d.travels() && e.travels() && !d.Late && MayBe(d.Thing, e.Thing) {
			m.take(i, at, Address)
			if string(d.Thing.Config) == string(e.Thing.Config) {
				m.pairs[i].Why = Same
			}
		}
	})
	byIdentity := m.travelling(Thing.bare)
	m.open(func(i int, d Declared) {
		d.Thing = d.Thing.bare()
		m.fetch(i, d, d.identity(), byIdentity)
	})
}

// otherThing pairs what stands at the same address and is known to be another thing:
// it will be replaced. What is or was only looked at is not.
func (m *matcher) otherThing() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.own(d)
		if !ok || d.Late || !bothKnown(d.Thing, e.Thing) {
			return
		}
		if relation, differences := d.compare(e, true); relation == Differs && e.Role == Managed && d.Role == Managed {
			m.replace(i, at, differences)
		}
	})
}

// replace pairs a resource with the entry of another thing.
func (m *matcher) replace(declared, recorded int, differences []Difference) {
	m.take(declared, recorded, Other)
	m.pairs[declared].Differences = differences
}

// unchanged pairs, where nobody can tell, what has the same address and an equal
// config.
func (m *matcher) unchanged() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.own(d)
		if !ok || d.Late || d.Role == Publish || e.Role == Publish || string(d.Thing.Config) != string(e.Thing.Config) {
			return
		}
		if relation, _ := d.compare(e, true); relation == Unclear {
			m.take(i, at, Same)
			m.pairs[i].MayStay = d.travels() && d.Thing.place() != e.Thing.place()
		}
	})
}

// guess pairs, where nobody can tell, what has an equal config at another address:
// of one kind, host and writable plugs. Each entry is guessed once. What the type
// remembers goes with the entry, so of such types it is the only way to another address.
func (m *matcher) guess() {
	byConfig, refuted := map[string][]int{}, map[string]bool{}
	for _, d := range m.in.Declared {
		if m.in.Refuted[d.Address] {
			refuted[d.guesses()] = true
		}
	}
	for i, e := range m.in.Recorded {
		if !m.taken[i] && e.Role == Managed {
			byConfig[e.Thing.likeness()] = append(byConfig[e.Thing.likeness()], i)
		}
	}
	m.open(func(i int, d Declared) {
		if d.Late || d.New || d.Role != Managed || refuted[d.guesses()] {
			return
		}
		for _, at := range byConfig[d.Thing.likeness()] {
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

// guesses names the guesses that are taken back together, when one of them does not
// hold: those about one image, which goes by names or does not.
func (d Declared) guesses() string { return d.Thing.Type.image() }

// likeness is what must be equal for a guess, beside the kind.
func (t Thing) likeness() string { return join(t.place(), string(t.Config)) }

// sameAddress pairs what is left by address. Where nobody can tell, another kind, host
// or writable plug makes it another thing now; nothing else speaks against the
// address.
func (m *matcher) sameAddress() {
	m.open(func(i int, d Declared) {
		at, e, ok := m.own(d)
		if !ok || (d.Role == Publish) != (e.Role == Publish) {
			return
		}
		if d.Role == ReadOnly && e.Role != ReadOnly && bothKnown(d.Thing, e.Thing) {
			return // what was managed there is another thing, and left over
		}
		if relation, differences := d.compare(e, true); relation == Differs && d.Role == Managed && e.Role == Managed {
			m.replace(i, at, differences)
			return
		}
		m.take(i, at, Address)
		m.pairs[i].MayStay = d.travels() && e.travels() && d.mayLeave(e)
	})
}

// mayLeave reports whether what an entry named may stay where it is, as nobody can
// tell: it is not known what names the thing and something of it has changed, or it
// was where plugs led that the resource has no more.
func (d Declared) mayLeave(e Recorded) bool {
	switch {
	case d.Late, d.Thing.place() != e.Thing.place():
		return true
	case bothKnown(d.Thing, e.Thing):
		return false
	}
	return string(d.Thing.Config) != string(e.Thing.Config)
}

// bothKnown reports whether it is known of both things what names them.
func bothKnown(declared, recorded Thing) bool {
	_, known := declared.values(declared.Type.Names)
	_, too := recorded.values(today(declared.Type, recorded.Type).Names)
	return known && too
}

// replacements says of each resource whether its entry's thing is replaced, and
// whose thing that is.
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

// ends says what becomes of the entries that nobody has.
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
