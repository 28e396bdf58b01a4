package match

import (
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
)

// ignoringGroup are resources and entries that differ only in ignored values, by index.
type ignoringGroup struct{ declared, recorded []int }

// exceptIgnored pairs a resource with an entry of another address, from which it differs only
// in what ignore_changes names: those values keep what was recorded. It does so only where one
// resource and one entry fit each other and no others.
func (m *matcher) exceptIgnored() {
	open := m.ignoring()
	if len(open) == 0 {
		return
	}
	free, groups, looked := m.unowned(), map[string]*ignoringGroup{}, map[string]bool{}
	group := func(rest string) *ignoringGroup {
		if groups[rest] == nil {
			groups[rest] = &ignoringGroup{}
		}
		return groups[rest]
	}
	for _, i := range open {
		d := m.in.Declared[i]
		if way := join(d.Thing.Type.view(), join(d.Ignored...)); !looked[way] {
			looked[way] = true
			for _, at := range free[d.Thing.Type.image()] {
				if rest := d.rest(m.in.Recorded[at].Thing); rest != "" {
					group(rest).recorded = append(group(rest).recorded, at)
				}
			}
		}
		if rest := d.rest(d.Thing); rest != "" {
			group(rest).declared = append(group(rest).declared, i)
		}
	}
	fit := map[int]int{} // entry -> how many resources it fits
	for _, g := range groups {
		for _, at := range g.recorded {
			fit[at] += len(g.declared)
		}
	}
	for _, g := range groups {
		if len(g.declared) == 1 && len(g.recorded) == 1 && fit[g.recorded[0]] == 1 {
			m.keep(g.declared[0], g.recorded[0])
		}
	}
}

// ignoring lists the resources without an entry that ignore a value which names their
// objects. It omits those of a kind that has another resource without an entry whose identity
// is not known yet: a free entry may belong to that one.
func (m *matcher) ignoring() []int {
	var open []int
	late := map[string]bool{}
	m.open(func(i int, d Declared) {
		_, here := m.standing[d.Address]
		switch {
		case !d.movable():
		case d.Late:
			for _, group := range d.Thing.Type.groups() {
				late[group] = true
			}
		case !here && slices.ContainsFunc(d.Thing.Type.Names, d.ignores):
			open = append(open, i)
		}
	})
	return slices.DeleteFunc(open, func(i int) bool {
		return slices.ContainsFunc(m.in.Declared[i].Thing.Type.groups(), func(group string) bool { return late[group] })
	})
}

// unowned returns, by image, the free entries whose objects belong to no resource, without
// deposed entries and those that a removed block names.
func (m *matcher) unowned() map[string][]int {
	free, owners := map[string][]int{}, m.ownersOf()
	for at, e := range m.in.Recorded {
		if m.taken[at] || e.Deposed || e.Removed || !e.movable() {
			continue
		}
		if owner, _ := owners.of(e.Thing, ""); owner == "" {
			free[e.Thing.Type.image()] = append(free[e.Thing.Type.image()], at)
		}
	}
	return free
}

// keep pairs a resource with an entry, and gives the resource the recorded config.
func (m *matcher) keep(declared, recorded int) {
	m.take(declared, recorded, Identity)
	d := &m.in.Declared[declared]
	d.Thing.Config = m.in.Recorded[recorded].Thing.Config
	m.identities[declared], m.exact[declared] = d.identity(), true
}

// ignores reports whether the value of a name is ignored.
func (d Declared) ignores(name Name) bool {
	return slices.ContainsFunc(d.Ignored, func(pointer string) bool { return strings.HasPrefix(name.Pointer+"/", pointer+"/") })
}

// rest returns the identity of an object, as the resource's type sees it, without the values
// that the resource ignores. Where all names are ignored it uses the rest of the config.
// "" = the identity is not known.
func (d Declared) rest(t Object) string {
	if _, known := t.values(d.Thing.Type.Names); !known {
		return ""
	}
	names := slices.DeleteFunc(slices.Clone(d.Thing.Type.Names), d.ignores)
	values, named := t.values(names)
	if !named {
		values = []string{string(jsondoc.Without(t.Config, d.Ignored))}
	}
	return join(d.Thing.Type.view(), join(d.Ignored...), join(values...), t.surroundings())
}
