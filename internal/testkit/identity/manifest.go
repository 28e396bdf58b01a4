package identity

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Block is a resource of a manifest.
type Block struct {
	Type        Knows
	Config      Config
	Late        bool // its identity comes from what it waits for
	Needs       []string
	CreateFirst bool
	ReadOnly    bool
}

// Manifest is what is declared, by addresses.
type Manifest map[string]Block

// Addresses lists what is declared, sorted.
func (m Manifest) Addresses() []string { return slices.Sorted(maps.Keys(m)) }

func (m Manifest) clone() Manifest {
	c := Manifest{}
	for a, b := range m {
		b.Needs = slices.Clone(b.Needs)
		c[a] = b
	}
	return c
}

// keys are the things that are declared.
func (m Manifest) keys() map[Key]string {
	keys := map[Key]string{}
	for _, a := range m.Addresses() {
		keys[KeyOf(m[a].Type, a, m[a].Config)] = a
	}
	return keys
}

// dense reports whether the list s has no holes.
func (m Manifest) dense() bool {
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
func (m Manifest) unique() bool {
	seen := map[Key]bool{}
	for a, b := range m {
		if b.ReadOnly {
			continue
		}
		k := KeyOf(b.Type, a, b.Config)
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

// Pick draws one of a list.
func Pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Chance is true with a probability.
func Chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// draw makes a manifest.
func draw(r *rand.Rand, types []Knows, f features, unique bool) Manifest {
	m, used := Manifest{}, map[Key]bool{}
	of := map[string]Knows{"s": Pick(r, types...), "m": Pick(r, types...)}
	length := r.IntN(4)
	for _, a := range []string{"r0", "r1", "r2", "s[0]", "s[1]", "s[2]", `m["a"]`, `m["b"]`, `m["c"]`} {
		if blockOf(a) == "s" {
			if int(a[2]-'0') >= length {
				continue
			}
		} else if Chance(r, .5) {
			continue
		}
		ty, repeated := of[blockOf(a)]
		if !repeated {
			ty = Pick(r, types...)
		}
		c := Config{ID: 1 + r.IntN(4), V: Pick(r, 1, 1, 1, 2)}
		if ty == ByIdentity && Chance(r, .3) {
			c.Region = "eu"
			if f["region"] {
				c.Region = Pick(r, "eu", "us")
			}
		}
		if f["hosts"] || f["plugs"] || f["machines"] {
			c.Place = placeOf(r, f)
		}
		k := KeyOf(ty, a, c)
		if unique && used[k] {
			continue
		}
		used[k] = true
		b := Block{Type: ty, Config: c, CreateFirst: f["cbd"] && Chance(r, .3)}
		if f["deps"] {
			b.Needs = some(r, m.Addresses(), .15)
		}
		m[a] = b
	}
	return m
}

// placeOf draws a host or the path of a plug.
func placeOf(r *rand.Rand, f features) string {
	if f["machines"] {
		return Pick(r, append(machines, "")...)
	}
	if f["hosts"] && (!f["plugs"] || Chance(r, .5)) {
		return Pick(r, "h1", "h2")
	}
	return Pick(r, "/w1", "/w2")
}

func some(r *rand.Rand, list []string, p float64) []string {
	var out []string
	for _, s := range list {
		if Chance(r, p) {
			out = append(out, s)
		}
	}
	return out
}

// edit makes the next manifest of one, and its moved blocks.
func edit(r *rand.Rand, before Manifest, types []Knows, f features) (Manifest, map[string]string) {
	m, moved := before.clone(), map[string]string{}
	for range 1 + r.IntN(3) {
		list := m.Addresses()
		op := Pick(r, "rename", "rename", "drop", "shift", "swap", "identity", "change", "add")
		if (f["hosts"] || f["plugs"] || f["machines"]) && Chance(r, .2) {
			op = "carry"
		}
		if len(list) == 0 && op != "add" {
			continue
		}
		switch op {
		case "rename":
			renamed(r, before, m, moved, f)
		case "drop":
			if a := Pick(r, list...); blockOf(a) != "s" {
				delete(m, a)
			}
		case "shift":
			shift(r, m)
		case "swap":
			a, b := Pick(r, list...), Pick(r, list...)
			if x, y := m[a], m[b]; x.Type == y.Type {
				x.Config, y.Config = y.Config, x.Config
				m[a], m[b] = x, y
			}
		case "identity":
			a := Pick(r, list...)
			b := m[a]
			b.Config.ID = 1 + r.IntN(5)
			m[a] = b
		case "change":
			a := Pick(r, list...)
			b := m[a]
			b.Config.V = 3
			m[a] = b
		case "carry":
			a := Pick(r, list...)
			b := m[a]
			b.Config.Place = placeOf(r, f)
			m[a] = b
		case "add":
			m["r5"] = Block{Type: Pick(r, types...), Config: Config{ID: 1 + r.IntN(5), V: 1}}
		}
	}
	order := m.Addresses()
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, a := range order {
		b := m[a]
		b.Needs = nil
		if f["deps"] {
			b.Needs = some(r, order[:i], .2)
		}
		b.Late = f["late"] && len(b.Needs) > 0 && Chance(r, .35)
		b.ReadOnly = b.ReadOnly || f["ro"] && b.Type == ByIdentity && Chance(r, .15)
		m[a] = b
	}
	return m, moved
}

func renamed(r *rand.Rand, before, m Manifest, moved map[string]string, f features) {
	list := slices.DeleteFunc(m.Addresses(), func(a string) bool { return blockOf(a) == "s" })
	if len(list) == 0 {
		return
	}
	from, to := Pick(r, list...), Pick(r, "r0", "r1", "r2", "r3", "r4")
	if _, taken := m[to]; taken {
		return
	}
	b := m[from]
	m[to] = b
	delete(m, from)
	_, was := before[from]
	_, wasTo := before[to]
	if f["moved"] && Chance(r, .3) && (b.Type == ByIdentity || b.Type == ByConfig) && was && !wasTo {
		clear(moved)
		moved[from] = to
	}
}

// shift takes an element out of the list, and may reorder the others.
func shift(r *rand.Rand, m Manifest) {
	var list []Block
	for _, a := range m.Addresses() {
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
	if Chance(r, .3) {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	for i, b := range list {
		m[fmt.Sprintf("s[%d]", i)] = b
	}
}
