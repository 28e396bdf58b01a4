package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// instantiate makes the instances, and evaluates all that needs no state.
func (m *instances) instantiate(wrong bool) hcl.Diagnostics {
	diags := m.makeInstances()
	static := m.evaluator(nil)
	m.top.each(func(mod *module) { diags = append(diags, m.evaluateStatic(static, mod)...) })
	e := m.evaluator(nil) // the first one saw resources without their types
	e.dry = true
	if d := m.link(e); d.HasErrors() {
		return append(diags, d...)
	}
	m.top.each(func(mod *module) {
		diags = append(diags, m.validateVariables(mod)...)
		diags = append(diags, m.checkMoved(mod)...)
		diags = append(diags, m.checkRemoved(mod)...)
	})
	if !wrong && !diags.HasErrors() {
		diags = append(diags, m.neverKnown()...)
		diags = append(diags, m.tryAll(e)...)
	}
	return diags
}

// neverKnown finds blocks whose instances no state will make known.
func (m *instances) neverKnown() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range m.pending {
		if len(p.Needs) > 0 || p.Waits || m.tree.hasUnset {
			continue
		}
		diags = append(diags, failure(p.x.expr.Range(), "Instances that cannot be known yet",
			"How many instances there are must be known for the plan, and this has something in it that is known only while it is applied, such as what timestamp() and uuid() give. Use variables and constants."))
	}
	return diags
}

// makeInstances expands every block, as far as that needs no state.
func (m *instances) makeInstances() hcl.Diagnostics {
	e := m.evaluator(nil)
	m.makeAll(e, m.top)
	m.top.each(func(mod *module) {
		for _, s := range mod.resources {
			for i := range s.list {
				m.list = append(m.list, &s.list[i])
			}
		}
	})
	slices.SortFunc(m.list, func(a, b *instance) int { return strings.Compare(a.Address, b.Address) })
	m.resources = make([]*Resource, len(m.list))
	diags := m.diags
	failed := map[*resource]bool{}
	for i, inst := range m.list {
		m.resources[i] = &inst.Resource
		if !failed[inst.block] {
			d := m.resolveAliases(e, inst)
			diags = append(diags, d...)
			failed[inst.block] = d.HasErrors()
		}
	}
	return diags
}

func (m *instances) makeAll(e *evaluator, mod *module) {
	for _, name := range slices.Sorted(maps.Keys(mod.block.resources)) {
		m.resourceSet(e, mod, name)
	}
	for _, name := range slices.Sorted(maps.Keys(mod.block.children)) {
		if s := m.moduleSet(e, mod, name); m.count <= maxInstances {
			for _, child := range s.list {
				m.makeAll(e, child)
			}
		}
	}
}

// concludes reports whether there are outputs or checks to evaluate.
func (m *instances) concludes() bool {
	some := false
	m.top.each(func(mod *module) {
		some = some || len(mod.block.outputs)+len(mod.block.checks) > 0 || mod != m.top && len(mod.block.variables) > 0
	})
	return some
}

// resolveAliases finds the resources that the aliases of one stand for, and
// checks the keys in its depends_on.
func (m *instances) resolveAliases(e *evaluator, i *instance) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if len(i.block.aliases) > 0 {
		i.aliases = make(map[string]aliased, len(i.block.aliases))
		i.Aliases = make(map[string]string, len(i.block.aliases))
	}
	for _, alias := range slices.Sorted(maps.Keys(i.block.aliases)) {
		t := i.block.aliases[alias]
		i.aliases[alias] = aliased{at: t.at}
		if t.resource == nil {
			continue
		}
		s, d := chooseDependency(e, t, i.site())
		if diags = append(diags, d...); d != nil || s.of == nil {
			continue
		}
		if s.of.pending {
			i.WaitsFor = append(i.WaitsFor, s.of.address)
		}
		s.eachInstance(func(to *instance) {
			i.aliases[alias] = aliased{to, t.at}
			i.Aliases[alias] = to.Address
		})
	}
	for _, t := range i.block.dependsOn {
		_, d := chooseDependency(e, t, i.site())
		diags = append(diags, d...)
	}
	return diags
}

// chooseDependency finds the instances that an element of dependencies or depends_on
// names. It is an error if its key is that of none.
func chooseDependency(e *evaluator, t dependency, at site) (choice, hcl.Diagnostics) {
	root, name := "resource", ""
	if t.call != nil {
		root, name = "module", t.call.name
	} else if name = t.resource.name; name == "" {
		return choice{}, nil
	}
	s := e.choose(root, name, []reference{t.ref}, at)
	keyed := t.ref.key != nil || len(t.ref.t) > 2
	if s.of == nil || s.of.pending || !keyed || len(s.wants) == 1 {
		return s, nil
	}
	if s.all && t.ref.key != nil && e.m.check.checkKey(t, at.block(), at.mod.block).HasErrors() {
		return s, nil // said already
	}
	if s.all {
		return s, hcl.Diagnostics{failure(t.at, "Known too late", "Which instance of %s is meant is known only with the state of another resource, and an order must be found before. Use each.key, count.index, variables and constants in the brackets.", traversalString(t.ref.t[:2]))}
	}
	d := failure(t.at, "", "")
	noKey(d, traversalString(t.ref.t[:2]), s.of, keyText(e, t.ref, at))
	return s, hcl.Diagnostics{d}
}

// keyText is the key of a reference as text.
func keyText(e *evaluator, ref reference, at site) string {
	if ref.key == nil {
		return objectKey(ref.t[2])
	}
	v, _ := e.value(ref.key, at) // its errors have been said
	v, _ = v.Unmark()
	return objectKey(hcl.TraverseIndex{Key: v})
}

// expand expands those of the given pending blocks for which scope has all that
// they need, and what depends on their instances.
func (m *instances) expand(blocks []Pending, scope Scope) (*instances, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	found := maps.Clone(m.pinned)
	if found == nil {
		found = map[string]Instances{}
	}
	e := m.evaluator(scope)
	for _, p := range blocks {
		missing := func(address string) bool { _, ok := scope[address]; return !ok }
		if p.Waits || slices.ContainsFunc(p.Needs, missing) {
			continue
		}
		i, d := learn(e, p.x)
		diags = append(diags, d...)
		found[p.Address] = i
	}
	if diags.HasErrors() {
		return m, diags
	}
	next, d := m.with(found)
	return next, append(diags, d...)
}

// with gives the instances when those of the pending blocks are these.
func (m *instances) with(pinned map[string]Instances) (*instances, hcl.Diagnostics) {
	next := &instances{modules: m.modules.with(pinned)}
	return next, next.instantiate(false)
}

// learn finds out what a block comes to now that the states are there.
func learn(e *evaluator, pending *expansion) (Instances, hcl.Diagnostics) {
	x := expansion{repetition: pending.repetition, mod: pending.mod, address: pending.address, expr: pending.expr}
	v, diags := e.value(x.expr, x.site())
	if diags.HasErrors() {
		return Instances{}, diags
	}
	if d := x.take(v, x.expr); d != nil {
		return Instances{}, hcl.Diagnostics{d}
	}
	if x.pending {
		return Instances{}, hcl.Diagnostics{unknownKeys(e, &x)}
	}
	if x.repetition == counted {
		return Instances{Count: &x.n}, nil
	}
	return Instances{Keys: x.keys}, nil
}

// unknownKeys says what is missing to know the instances of a block.
func unknownKeys(e *evaluator, x *expansion) *hcl.Diagnostic {
	refs := e.unknownRefs(x.expr, x.site())
	what, attr := "The keys of this for_each are", "for_each"
	if x.repetition == counted {
		what, attr = "This count is", "count"
	}
	verb := " is"
	if len(refs) > 1 {
		verb = " are"
	}
	return failure(x.expr.Range(), "Instances that cannot be known yet",
		"%s known only after apply, because %s%s: that resource is still to be created or changed. What there will be must be in the plan. Either take the %s from variables, constants or configs, and states only for the values; or apply in two steps, the first with -exclude='%s'.",
		what, strings.Join(refs, ", "), verb, attr, x.address)
}
