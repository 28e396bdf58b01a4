package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/limits"
)

// maxEdges bounds the dependencies of all resources together: ten thousand that
// each depend on ten thousand others would fill the memory.
const maxEdges = 2_000_000

// reach is what a value is made of.
type reach struct {
	found map[*instance]bool
	waits map[string]bool // the addresses of blocks among it that are not expanded yet
}

func (r *reach) add(i *instance) {
	if r.found == nil {
		r.found = map[*instance]bool{}
	}
	r.found[i] = true
}

func (r *reach) merge(other *reach) {
	for i := range other.found {
		r.add(i)
	}
	for address := range other.waits {
		r.waitFor(address)
	}
}

// waitFor adds a block that is not expanded yet.
func (r *reach) waitFor(address string) {
	if r.waits == nil {
		r.waits = map[string]bool{}
	}
	r.waits[address] = true
}

// through notes that a block is read: what is there of it may not be all.
func (r *reach) through(x *expansion) {
	if x != nil && x.pending {
		r.waitFor(x.address)
	}
}

// addresses lists the resources, sorted.
func (r *reach) addresses() []string {
	list := make([]string, 0, len(r.found))
	for inst := range r.found {
		list = append(list, inst.Address)
	}
	slices.Sort(list)
	return list
}

// reacher finds out what values are made of: which instances of which blocks, as
// far as that can be told without any state.
type reacher struct {
	e    *evaluator
	done map[memoKey]*reach
	room int
}

// link gives every instance its edges.
func (m *instances) link(e *evaluator) hcl.Diagnostics {
	r := &reacher{e: e, done: map[memoKey]*reach{}, room: maxEdges}
	for _, i := range m.list {
		r.edges(i)
		if r.room < 0 {
			return hcl.Diagnostics{limits.Exceeded(i.block.at, "dependencies of all resources together", maxEdges)}
		}
	}
	for i := range m.pending {
		p := &m.pending[i]
		needs := &reach{}
		r.expr(p.x.expr, p.x.site(), needs)
		p.Needs, p.WaitsFor = needs.addresses(), slices.Sorted(maps.Keys(needs.waits))
		p.Waits = len(p.WaitsFor) > 0
	}
	slices.SortFunc(m.pending, func(a, b Pending) int { return strings.Compare(a.Address, b.Address) })
	return nil
}

// edges finds what one resource depends on.
func (r *reacher) edges(i *instance) {
	var byRef, byOrder reach
	byAlias := map[*instance]bool{}
	for alias, a := range i.aliases {
		if a.to != nil {
			byAlias[a.to] = true
			i.Aliases[alias] = a.to.Address
		}
	}
	for _, expr := range i.block.expressions() {
		r.expr(expr, i.site(), &byRef)
	}
	for _, c := range i.block.conditions() {
		r.expr(c.expr, i.site(), &byRef)
		r.expr(c.message, i.site(), &byRef)
	}
	if x := i.at.of; x != nil && x.learned {
		r.expr(x.expr, x.site(), &byRef)
	}
	for _, t := range i.block.dependsOn {
		r.dependency(t, i.site(), &byOrder)
	}
	byOrder.merge(r.module(i.mod))
	for address := range byRef.waits {
		byOrder.waitFor(address)
	}
	for _, address := range i.WaitsFor { // of its aliases
		byOrder.waitFor(address)
	}
	i.WaitsFor = slices.Sorted(maps.Keys(byOrder.waits))
	i.Waits = len(i.WaitsFor) > 0
	i.Edges = make([]Edge, 0, len(byRef.found)+len(byAlias))
	for to := range byAlias {
		i.Edges = append(i.Edges, Edge{to.Address, FromDependency})
	}
	for to := range byRef.found {
		if !byAlias[to] {
			i.Edges = append(i.Edges, Edge{to.Address, FromReference})
		}
	}
	for to := range byOrder.found {
		if !byAlias[to] && !byRef.found[to] {
			i.Edges = append(i.Edges, Edge{to.Address, FromDependsOn})
		}
	}
	slices.SortFunc(i.Edges, func(a, b Edge) int { return strings.Compare(a.To, b.To) })
	r.room -= len(i.Edges)
}

// module is what everything in a module waits for: the depends_on of the blocks
// that call it, and what says how many instances of it there are.
func (r *reacher) module(mod *module) *reach {
	if mod.caller == nil {
		return &reach{}
	}
	return r.named(memoKey{kind: kindModule, mod: mod}, func(into *reach) {
		for _, t := range mod.block.call.dependsOn {
			r.dependency(t, mod.inputs(), into)
		}
		if x := mod.at.of; x != nil && x.learned {
			r.expr(x.expr, x.site(), into)
		}
		into.merge(r.module(mod.caller))
	})
}

// named finds once what a named value is made of.
func (r *reacher) named(key memoKey, find func(into *reach)) *reach {
	if known, ok := r.done[key]; ok {
		return known
	}
	out := &reach{}
	r.done[key] = out // there are no circles
	find(out)
	return out
}

// dependency adds what an element of depends_on means.
func (r *reacher) dependency(t dependency, at site, into *reach) {
	switch {
	case t.resource != nil:
		s := r.e.choose("resource", t.resource.name, []reference{t.ref}, at)
		into.through(s.of)
		s.eachInstance(into.add)
	case t.call != nil:
		s := r.e.choose("module", t.call.name, []reference{t.ref}, at)
		into.through(s.of)
		s.eachModule(func(mod *module) { r.everything(mod, into) })
	}
}

// everything adds all resources of a module.
func (r *reacher) everything(mod *module, into *reach) {
	for _, s := range mod.resources {
		into.through(&s.expansion)
		for i := range s.list {
			into.add(&s.list[i])
		}
	}
	for _, s := range mod.children {
		into.through(&s.expansion)
		for _, child := range s.list {
			r.everything(child, into)
		}
	}
}

// eachInstance calls f with the resources that were chosen.
func (s choice) eachInstance(f func(*instance)) {
	s.each(func(i int) {
		if s.list != nil {
			f(&s.list[i])
		}
	})
}

// eachModule calls f with the modules that were chosen.
func (s choice) eachModule(f func(*module)) {
	s.each(func(i int) {
		if s.mods != nil {
			f(s.mods[i])
		}
	})
}

// each calls f with the numbers of what was chosen: often one of many.
func (s choice) each(f func(i int)) {
	if !s.all {
		for _, c := range s.wants {
			f(c.i)
		}
		return
	}
	for i := range s.of.n {
		f(i)
	}
}

// expr adds what an expression refers to.
func (r *reacher) expr(expr hcl.Expression, at site, into *reach) {
	for _, ref := range r.e.m.refs.references(expr) {
		r.ref(ref, at, into)
	}
}

func (r *reacher) ref(ref reference, at site, into *reach) {
	name, mod := stepName(ref.t, 1), at.mod
	switch ref.t.RootName() {
	case "local":
		if l := mod.block.locals[name]; l != nil && l.dynamic {
			into.merge(r.named(memoKey{kind: kindLocal, mod: mod, name: name}, func(in *reach) { r.expr(l.expr, mod.site(), in) }))
		}
	case "var":
		if v := mod.block.variables[name]; v != nil && v.dynamic {
			if a := mod.block.call.attrs[name]; a != nil {
				into.merge(r.named(memoKey{kind: kindVariable, mod: mod, name: name}, func(in *reach) { r.expr(a.Expr, mod.inputs(), in) }))
			}
		}
	case "each":
		if name == "value" && at.at.of != nil {
			r.eachValue(at.at, into)
		}
	case "dep":
		if at.res != nil && at.res.aliases[name].to != nil {
			r.instance(at.res.aliases[name].to, ref.t[2:], into)
		}
	case "resource":
		s := r.e.choose("resource", name, []reference{ref}, at)
		into.through(s.of)
		for _, c := range s.wants {
			r.instance(&s.list[c.i], c.wants[0].steps, into)
		}
		if s.all {
			for i := range s.list {
				r.instance(&s.list[i], s.every[0].steps, into)
			}
		}
	case "module":
		r.moduleRef(ref, at, into)
	}
}

// instance adds a resource, and what its config is made of if that is read.
func (r *reacher) instance(i *instance, steps hcl.Traversal, into *reach) {
	into.add(i)
	attr := ""
	if len(steps) > 0 {
		attr = objectKey(steps[0])
	}
	if a := i.block.attrs["config"]; a != nil && (attr == "" || attr == "config") {
		into.merge(r.named(memoKey{kind: kindConfig, inst: i}, func(in *reach) { r.expr(a.Expr, i.site(), in) }))
	}
}

// moduleRef adds what the outputs of a module are made of.
func (r *reacher) moduleRef(ref reference, at site, into *reach) {
	s := r.e.choose("module", stepName(ref.t, 1), []reference{ref}, at)
	if s.of == nil {
		return
	}
	into.through(s.of)
	if s.of.learned {
		r.expr(s.of.expr, s.of.site(), into)
	}
	s.eachModule(func(mod *module) {
		for _, name := range outputsOf(ref, mod.block) {
			a := mod.block.outputs[name].attrs["value"]
			if a == nil || !mod.block.outputs[name].dynamic {
				continue
			}
			into.merge(r.named(memoKey{kind: kindOutput, mod: mod, name: name}, func(in *reach) { r.expr(a.Expr, mod.site(), in) }))
		}
	})
}

// eachValue adds what each.value is made of: where for_each is written out, or is
// the instances of another block, that is one part of it.
func (r *reacher) eachValue(o occurrence, into *reach) {
	x, key := o.of, o.of.keys[o.i]
	if _, known := x.values[key]; known || x.set {
		return
	}
	if item := child(x.expr, key); item != nil {
		r.expr(item, x.site(), into)
		return
	}
	if ref, ok := r.e.m.refs.asReference(x.expr); ok && len(ref.t) == 2 && ref.key == nil && mayRepeat(ref.t) {
		step := hcl.TraverseIndex{Key: stringKey(key)}
		r.ref(reference{t: append(slices.Clone(ref.t), step)}, x.site(), into)
		return
	}
	into.merge(r.named(memoKey{kind: kindForEach, x: x}, func(in *reach) { r.expr(x.expr, x.site(), in) }))
}
