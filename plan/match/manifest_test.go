package match_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// block is a resource of a manifest.
type block struct {
	ty          known
	c           config
	late        bool // its identity comes from what it waits for
	needs       []string
	createFirst bool
	readOnly    bool
}

type manifest map[string]block

func (m manifest) addresses() []string { return slices.Sorted(maps.Keys(m)) }

func (m manifest) clone() manifest {
	c := manifest{}
	for a, b := range m {
		b.needs = slices.Clone(b.needs)
		c[a] = b
	}
	return c
}

// keys are the things that are declared.
func (m manifest) keys() map[key]string {
	keys := map[key]string{}
	for _, a := range m.addresses() {
		keys[keyOf(m[a].ty, a, m[a].c)] = a
	}
	return keys
}

// dense reports whether the list s has no holes.
func (m manifest) dense() bool {
	n := 0
	for a := range m {
		if strings.HasPrefix(a, "s[") {
			n++
		}
	}
	for i := range n {
		if _, there := m[fmt.Sprintf("s[%d]", i)]; !there {
			return false
		}
	}
	return true
}

// unique reports whether no two blocks that manage things have one thing.
func (m manifest) unique() bool {
	seen := map[key]bool{}
	for a, b := range m {
		if b.readOnly {
			continue
		}
		k := keyOf(b.ty, a, b.c)
		if seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// features are what a family of histories is about.
type features map[string]bool

func featuresOf(list string) features {
	f := features{}
	for _, name := range strings.Fields(list) {
		f[name] = true
	}
	return f
}

func blockOf(address string) string {
	name, _, _ := strings.Cut(address, "[")
	return name
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// draw makes a manifest.
func draw(r *rand.Rand, types []known, f features, unique bool) manifest {
	m, used := manifest{}, map[key]bool{}
	of := map[string]known{"s": pick(r, types...), "m": pick(r, types...)}
	length := r.IntN(4)
	for _, a := range []string{"r0", "r1", "r2", "s[0]", "s[1]", "s[2]", `m["a"]`, `m["b"]`, `m["c"]`} {
		if blockOf(a) == "s" {
			if int(a[2]-'0') >= length {
				continue
			}
		} else if chance(r, .5) {
			continue
		}
		ty, repeated := of[blockOf(a)]
		if !repeated {
			ty = pick(r, types...)
		}
		c := config{ID: 1 + r.IntN(4), V: pick(r, 1, 1, 1, 2)}
		if ty == byIdentity && chance(r, .3) {
			c.Region = "eu"
			if f["region"] {
				c.Region = pick(r, "eu", "us")
			}
		}
		if f["hosts"] || f["plugs"] {
			c.Place = placeOf(r, f)
		}
		k := keyOf(ty, a, c)
		if unique && used[k] {
			continue
		}
		used[k] = true
		b := block{ty: ty, c: c, createFirst: f["cbd"] && chance(r, .3)}
		if f["deps"] {
			b.needs = some(r, m.addresses(), .15)
		}
		m[a] = b
	}
	return m
}

// placeOf draws a host or the path of a plug.
func placeOf(r *rand.Rand, f features) string {
	if f["hosts"] && (!f["plugs"] || chance(r, .5)) {
		return pick(r, "h1", "h2")
	}
	return pick(r, "/w1", "/w2")
}

func some(r *rand.Rand, list []string, p float64) []string {
	var out []string
	for _, s := range list {
		if chance(r, p) {
			out = append(out, s)
		}
	}
	return out
}

// edit makes the next manifest of one, and its moved blocks.
func edit(r *rand.Rand, before manifest, types []known, f features) (manifest, map[string]string) {
	m, moved := before.clone(), map[string]string{}
	for range 1 + r.IntN(3) {
		list := m.addresses()
		op := pick(r, "rename", "rename", "drop", "shift", "swap", "identity", "change", "add")
		if (f["hosts"] || f["plugs"]) && chance(r, .2) {
			op = "carry"
		}
		if len(list) == 0 && op != "add" {
			continue
		}
		switch op {
		case "rename":
			renamed(r, before, m, moved, f)
		case "drop":
			if a := pick(r, list...); blockOf(a) != "s" {
				delete(m, a)
			}
		case "shift":
			shift(r, m)
		case "swap":
			a, b := pick(r, list...), pick(r, list...)
			if x, y := m[a], m[b]; x.ty == y.ty {
				x.c, y.c = y.c, x.c
				m[a], m[b] = x, y
			}
		case "identity":
			a := pick(r, list...)
			b := m[a]
			b.c.ID = 1 + r.IntN(5)
			m[a] = b
		case "change":
			a := pick(r, list...)
			b := m[a]
			b.c.V = 3
			m[a] = b
		case "carry":
			a := pick(r, list...)
			b := m[a]
			b.c.Place = placeOf(r, f)
			m[a] = b
		case "add":
			m["r5"] = block{ty: pick(r, types...), c: config{ID: 1 + r.IntN(5), V: 1}}
		}
	}
	order := m.addresses()
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, a := range order {
		b := m[a]
		b.needs = nil
		if f["deps"] {
			b.needs = some(r, order[:i], .2)
		}
		b.late = f["late"] && len(b.needs) > 0 && chance(r, .35)
		b.readOnly = b.readOnly || f["ro"] && b.ty == byIdentity && chance(r, .15)
		m[a] = b
	}
	return m, moved
}

func renamed(r *rand.Rand, before, m manifest, moved map[string]string, f features) {
	list := slices.DeleteFunc(m.addresses(), func(a string) bool { return blockOf(a) == "s" })
	if len(list) == 0 {
		return
	}
	from, to := pick(r, list...), pick(r, "r0", "r1", "r2", "r3", "r4")
	if _, taken := m[to]; taken {
		return
	}
	b := m[from]
	m[to] = b
	delete(m, from)
	_, was := before[from]
	_, wasTo := before[to]
	if f["moved"] && chance(r, .3) && (b.ty == byIdentity || b.ty == byConfig) && was && !wasTo {
		clear(moved)
		moved[from] = to
	}
}

// shift takes an element out of the list, and may reorder the others.
func shift(r *rand.Rand, m manifest) {
	var list []block
	for _, a := range m.addresses() {
		if blockOf(a) == "s" {
			list = append(list, m[a])
			delete(m, a)
		}
	}
	if len(list) == 0 {
		return
	}
	out := r.IntN(len(list))
	list = slices.Delete(list, out, out+1)
	if chance(r, .3) {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	for i, b := range list {
		m[fmt.Sprintf("s[%d]", i)] = b
	}
}
