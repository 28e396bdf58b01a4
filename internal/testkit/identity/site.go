package identity

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Site says which machines there are, how they are reached, and what a manifest calls them.
type Site struct {
	Names   map[string]string // machine -> its host in the manifest; none = it is not declared
	Address map[string]string // machine -> where its host says that it is
	Answers map[string]string // address -> the machine that answers there
	Down    map[string]bool   // machines that do not answer
}

// machines are those on which manifests have things at first; others may come in their
// place.
var machines = []string{"h1", "h2", "h3"}

// newSite declares all machines, as blocks of their own or as instances of one.
func newSite(r *rand.Rand) *Site {
	s := &Site{Names: called(r), Address: map[string]string{}, Answers: map[string]string{}, Down: map[string]bool{}}
	for i, m := range machines {
		s.move(m, fmt.Sprintf("10.0.0.%d", i+1))
	}
	return s
}

// called draws what the machines are called.
func called(r *rand.Rand) map[string]string {
	list := Pick(r, []string{"web", "db", "edge"}, []string{`pool["a"]`, `pool["b"]`, `pool["c"]`})
	names := map[string]string{}
	for i, k := range r.Perm(len(list)) {
		names[machines[i]] = list[k]
	}
	return names
}

// move makes a machine answer at an address, where its host says that it is.
func (s *Site) move(machine, address string) {
	s.Address[machine], s.Answers[address] = address, machine
}

// next is the site of the next manifest, which goes with the machines: hosts have other
// names or addresses, a machine has taken the place of another, a host is declared no
// more, a machine is down.
func (s *Site) next(r *rand.Rand, m Manifest, f features) *Site {
	n := &Site{Names: maps.Clone(s.Names), Address: maps.Clone(s.Address), Answers: maps.Clone(s.Answers), Down: map[string]bool{}}
	if Chance(r, .4) {
		n.Names = called(r)
	}
	if Chance(r, .3) {
		n.move(Pick(r, machines...), "10.0.1.1")
	}
	if Chance(r, .35) {
		n.take(Pick(r, machines...), "h4", m, Chance(r, .5))
	}
	used := map[string]bool{}
	for _, b := range m {
		used[b.Config.Place] = true
	}
	for _, at := range slices.Sorted(maps.Keys(n.Names)) {
		if !used[at] && Chance(r, .5) {
			if delete(n.Names, at); Chance(r, .3) { // a stranger has its address
				n.Answers[n.Address[at]] = "h5"
			}
		}
	}
	for _, at := range []string{"h1", "h2", "h3", "h4"} {
		if f["down"] && Chance(r, .2) {
			n.Down[at] = true
		}
	}
	if f["down"] && Chance(r, .3) {
		n.exchange(r, m)
	}
	return n
}

// exchange makes two hosts exchange their names, while one is down of which something
// is declared no more.
func (s *Site) exchange(r *rand.Rand, m Manifest) {
	list := slices.Sorted(maps.Keys(s.Names))
	if len(list) < 2 {
		return
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	s.Names[list[0]], s.Names[list[1]] = s.Names[list[1]], s.Names[list[0]]
	s.Down[list[0]] = true
	for _, a := range m.Addresses() {
		if m[a].Config.Place == list[0] && blockOf(a) != "s" {
			delete(m, a)
			break
		}
	}
	for a, b := range m { // nobody needs what is not there
		b.Needs, b.Late = nil, false
		m[a] = b
	}
}

// take puts a machine in the place of another one, which is not declared any more, and
// all that was to be on that: at its address, or at one of its own.
func (s *Site) take(old, now string, m Manifest, same bool) {
	s.Names[now] = s.Names[old]
	delete(s.Names, old)
	at := "10.0.2.1"
	if same {
		at = s.Address[old]
	}
	s.move(now, at)
	for a, b := range m {
		if b.Config.Place == old {
			b.Config.Place = now
			m[a] = b
		}
	}
}

// up is the site when all machines answer again.
func (s *Site) up() *Site {
	if s == nil {
		return nil
	}
	n := *s
	n.Down = map[string]bool{}
	return &n
}
