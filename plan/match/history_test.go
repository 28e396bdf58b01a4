package match_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// history is two manifests, applied one after the other until all is done.
type history struct {
	r        *rand.Rand
	f        features
	w        *world
	a, b     manifest
	moved    map[string]string
	replace  map[string]bool
	target   []string
	version  int
	state    entries
	births   map[key]int // of what was there before the second manifest
	foreign  map[key]bool
	told     map[key]bool
	problems map[string]bool
	rounds   int
}

// start draws a history and applies its first manifest; nil = it is no proper one.
func start(seed uint64, fam family) *history {
	h := &history{r: rand.New(rand.NewPCG(seed, 7)), f: featuresOf(fam.features), w: newWorld(), told: map[key]bool{}, problems: map[string]bool{}}
	h.a = draw(h.r, fam.types, h.f, !(h.f["dup"] && chance(h.r, .5)))
	if !h.a.dense() {
		return nil
	}
	for _, x := range h.a.addresses() {
		if b := h.a[x]; h.f["roA"] && b.ty == byIdentity && chance(h.r, .2) {
			b.readOnly = true
			h.a[x] = b
		}
	}
	before := 1
	h.version = 1
	if h.f["ver"] {
		before = pick(h.r, 0, 1, 2)
		h.version = max(before, pick(h.r, 1, 2))
	}
	if h.f["mirror"] {
		h.version += mirrored
	}
	for _, x := range h.a.addresses() {
		if b := h.a[x]; b.readOnly {
			k := keyOf(b.ty, x, b.c)
			if h.w.things[k] == nil {
				h.w.make(k, b.c.V, true)
			}
			h.w.things[k].is = b.c.V
		}
	}
	p, err := build(h.w, entries{}, h.a, before, nil, nil, nil)
	if err != nil {
		return nil
	}
	status := ""
	if h.state, status, _ = apply(h.w, p, h.r, 0); status != complete {
		return nil
	}
	h.b, h.moved = edit(h.r, h.a, fam.types, h.f)
	if !h.b.dense() || !h.b.unique() || !h.sameTypes() || !h.onlyLooks() {
		return nil
	}
	h.drift()
	h.births, h.foreign = map[key]int{}, map[key]bool{}
	for k, t := range h.w.things {
		h.births[k], h.foreign[k] = t.birth, t.foreign
	}
	h.choose()
	return h
}

// sameTypes reports whether no address changes its type.
func (h *history) sameTypes() bool {
	for a, b := range h.b {
		if was, there := h.a[a]; there && was.ty != b.ty {
			return false
		}
	}
	return true
}

// onlyLooks makes what is only looked at right, and reports whether that can be.
func (h *history) onlyLooks() bool {
	for _, a := range h.b.addresses() {
		b := h.b[a]
		if !b.readOnly {
			continue
		}
		k := keyOf(b.ty, a, b.c)
		if h.w.things[k] == nil {
			h.w.make(k, b.c.V, true)
		}
		b.c.V = h.w.things[k].is
		h.b[a] = b
		for other, o := range h.b {
			if !o.readOnly && keyOf(o.ty, other, o.c) == k && o.c.V != b.c.V {
				return false
			}
		}
	}
	return true
}

// drift changes and removes things behind the tool's back.
func (h *history) drift() {
	if !h.f["drift"] {
		return
	}
	looked := map[key]bool{}
	for a, b := range h.b {
		if b.readOnly {
			looked[keyOf(b.ty, a, b.c)] = true
		}
	}
	for i, k := range slices.Sorted(maps.Keys(h.w.things)) {
		switch {
		case !chance(h.r, .12) || looked[k]:
		case chance(h.r, .5):
			delete(h.w.things, k)
		default:
			h.w.things[k].is = 100 + i // no two drift alike: they would be taken for one
		}
	}
}

// choose draws what the first apply of the second manifest is about.
func (h *history) choose() {
	h.replace = map[string]bool{}
	if h.f["replace"] {
		for _, a := range some(h.r, h.b.addresses(), .2) {
			h.replace[a] = true
		}
	}
	if !h.f["target"] {
		return
	}
	all := map[string]bool{}
	for _, m := range []manifest{h.a, h.b} {
		for a := range m {
			all[a] = true
		}
	}
	list := slices.Sorted(maps.Keys(all))
	if len(list) == 0 {
		list = []string{"r0"}
	}
	h.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	h.target = list[:1+h.r.IntN(max(1, len(list)/2))]
}

func (h *history) problem(format string, args ...any) {
	h.problems[fmt.Sprintf(format, args...)] = true
}

// run applies the second manifest until all is done, and then looks.
func (h *history) run() {
	status := ""
	for h.rounds = 1; h.rounds <= 6 && !h.round(&status); h.rounds++ {
	}
	if status != complete && len(h.problems) == 0 {
		h.problem("it never ends: %s", status)
	}
	h.lost("")
	h.leftOver()
	if len(h.problems) == 0 {
		h.nothingToDo()
	}
}

// round is one plan and apply; it reports whether it was the last.
func (h *history) round(status *string) bool {
	replace, target, fail := h.replace, h.target, 0.0
	if h.rounds > 1 {
		replace, target = nil, nil
	}
	if h.f["fail"] && h.rounds <= 2 {
		fail = .12
	}
	p, err := build(h.w, h.state, h.b, h.version, h.moved, replace, target)
	if err != nil {
		h.problem("%s", err)
		return true
	}
	var told []key
	h.state, *status, told = apply(h.w, p, h.r, fail)
	for _, k := range told {
		h.told[k] = true
	}
	switch {
	case *status == deadlock, *status == tookLate, *status == tookIt && !h.tellable():
		h.problem("%s", *status)
		return true
	case target != nil:
		h.lost(", selected")
		h.known(1)
		return false
	case *status == complete:
		for _, a := range h.b.addresses() {
			if is, _ := h.w.ask(h.b[a].ty, a, h.b[a].c); is != valid {
				h.problem("complete, but a declared thing is not right")
			}
		}
		return true
	}
	h.known(.7)
	return false
}

// known makes identities that came late known, as they are in a later plan.
func (h *history) known(p float64) {
	for _, a := range h.b.addresses() {
		if b := h.b[a]; b.late && (chance(h.r, p) || h.rounds >= 2) {
			b.late = false
			h.b[a] = b
		}
	}
}

// lost finds things that are declared, were there, and were destroyed.
func (h *history) lost(when string) {
	declared, before := h.b.keys(), h.a.keys()
	for k, birth := range h.births {
		a, still := declared[k]
		t := h.w.things[k]
		switch {
		case still && (t == nil || t.birth != birth) && !h.replace[a] && !h.tellableKey(k):
			h.problem("a declared thing was destroyed%s", when)
		case !still && t == nil && h.foreign[k]:
			if _, managed := before[k]; !managed {
				h.problem("somebody else's thing was destroyed")
			}
		}
	}
	for a, b := range h.a {
		k := keyOf(b.ty, a, b.c)
		_, was := h.births[k]
		if owner := before[k]; b.readOnly && was && h.w.things[k] == nil && h.a[owner].readOnly && h.a.onlyReadOnly(k) {
			h.problem("what was only looked at was destroyed")
		}
	}
}

// onlyReadOnly reports whether nobody manages a thing.
func (m manifest) onlyReadOnly(k key) bool {
	for a, b := range m {
		if !b.readOnly && keyOf(b.ty, a, b.c) == k {
			return false
		}
	}
	return true
}

// leftOver finds things that we made or managed, that are not declared any more,
// that are still there, and of which nothing was said.
func (h *history) leftOver() {
	declared, before := h.b.keys(), h.a.keys()
	for k, t := range h.w.things {
		_, still := declared[k]
		_, was := before[k]
		if !still && (was || !t.foreign) && !t.foreign && !(was && !h.a.managed(k)) && !h.told[k] {
			h.problem("a thing was left, and nothing was said")
		}
	}
}

// managed reports whether somebody manages a thing, and none only looks at it.
func (m manifest) managed(k key) bool {
	for a, b := range m {
		if b.readOnly && keyOf(b.ty, a, b.c) == k {
			return false
		}
	}
	return true
}

// nothingToDo wants the next plan to be empty.
func (h *history) nothingToDo() {
	p, err := build(h.w, h.state, h.b, h.version, h.moved, nil, nil)
	if err != nil || len(p.ends) > 0 {
		h.problem("the next plan is not empty")
		return
	}
	for a, s := range p.steps {
		if is, _ := h.w.ask(h.b[a].ty, a, h.b[a].c); is != valid || s.Replaced || s.Moved() {
			h.problem("the next plan is not empty")
		}
	}
}

// tellable, see tellableKey.
func (h *history) tellable() bool {
	for k := range h.b.keys() {
		if h.tellableKey(k) {
			return true
		}
	}
	return false
}

// tellableKey reports whether a thing may be lost, because its type knows it by its
// config without saying so. Whoever changes its address and its config at once, while
// it is not as it was recorded, gives nothing by which it could be found.
func (h *history) tellableKey(k key) bool {
	declared, before := h.b.keys(), h.a.keys()
	now, was := declared[k], before[k]
	if h.b[now].ty != byConfig || was == "" || now == was {
		return false
	}
	return h.b[now].c != h.a[was].c || h.f["drift"] || h.f["fail"]
}
