package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// want is what a reference reads of a resource or a module: the steps behind its
// name and key. None means all of it.
type want struct {
	steps hcl.Traversal
	open  bool
	at    hcl.Range
}

// object gives resource.NAME, dep.NAME or module.NAME as far as the references
// of that name among refs need it, which is often one instance of many.
func (e *evaluator) object(root, name string, refs []reference, at site) (cty.Value, hcl.Diagnostics) {
	if root == "dep" {
		if at.res == nil || at.res.aliases[name].to == nil {
			return cty.NilVal, nil
		}
		var wants []want
		for _, ref := range refs {
			if ref.t.RootName() == root && stepName(ref.t, 1) == name {
				wants = append(wants, want{ref.t[2:], ref.open, ref.t.SourceRange()})
			}
		}
		return e.instanceValue(at.res.aliases[name].to, wants)
	}
	s := e.choose(root, name, refs, at)
	switch {
	case s.of == nil:
		return cty.NilVal, nil
	case s.of.pending:
		return cty.DynamicVal, nil
	}
	return e.chosen(s)
}

// choice is which instances of a block are needed, and what of each.
type choice struct {
	of    *expansion
	list  []instance // or
	mods  []*module
	all   bool
	wants []chosen // single ones, mostly one
	every []want   // of each
}

// chosen is one instance, and what is wanted of it.
type chosen struct {
	i     int
	wants []want
}

// add notes what is wanted of an instance.
func (s *choice) add(i int, w want) {
	for k := range s.wants {
		if s.wants[k].i == i {
			s.wants[k].wants = append(s.wants[k].wants, w)
			return
		}
	}
	s.wants = append(s.wants, chosen{i, []want{w}})
}

// wantsOf is all that is wanted of an instance.
func (s *choice) wantsOf(i int) []want {
	for _, c := range s.wants {
		if c.i == i {
			return append(slices.Clone(c.wants), s.every...)
		}
	}
	return s.every
}

// set finds the instances of a block.
func (e *evaluator) set(root, name string, mod *module) choice {
	if root == "module" {
		if s := e.m.moduleSet(e, mod, name); s != nil {
			return choice{of: &s.expansion, mods: s.list}
		}
		return choice{}
	}
	if s := e.m.resourceSet(e, mod, name); s != nil {
		return choice{of: &s.expansion, list: s.list}
	}
	return choice{}
}

// choose finds what the references of a name need.
func (e *evaluator) choose(root, name string, refs []reference, at site) choice {
	s := e.set(root, name, at.mod)
	if s.of == nil || s.of.pending {
		return s
	}
	for _, ref := range refs {
		if ref.t.RootName() != root || stepName(ref.t, 1) != name {
			continue
		}
		w := want{steps: ref.t[2:], open: ref.open, at: ref.t.SourceRange()}
		if s.of.repetition == once {
			s.add(0, w)
			continue
		}
		i, steps, which := e.which(ref, s.of, at)
		w.steps = steps
		switch which {
		case oneInstance:
			s.add(i, w)
		case allInstances:
			s.all, s.every = true, append(s.every, w)
		}
	}
	return s
}

// Which instances a reference names.
const (
	oneInstance = iota
	noInstance  // there is none with its key
	allInstances
)

// which finds the instance that a reference names, and what it reads there.
func (e *evaluator) which(ref reference, x *expansion, at site) (i int, steps hcl.Traversal, which int) {
	var key cty.Value
	switch {
	case ref.splat:
		return 0, ref.rest, allInstances
	case ref.key != nil:
		v, diags := e.value(ref.key, at)
		if diags.HasErrors() {
			return 0, nil, allInstances // said where the expression is evaluated
		}
		key, steps = v, ref.rest
	case len(ref.t) > 2:
		step, ok := ref.t[2].(hcl.TraverseIndex)
		if !ok {
			return 0, nil, allInstances
		}
		key, steps = step.Key, ref.t[3:]
	default:
		return 0, nil, allInstances
	}
	key, _ = key.Unmark()
	wanted := cty.String
	if x.repetition == counted {
		wanted = cty.Number
	}
	key, err := convert.Convert(key, wanted)
	if err != nil || !key.IsKnown() {
		return 0, nil, allInstances
	}
	if key.IsNull() {
		return 0, nil, noInstance
	}
	if i = x.index(key); i < 0 {
		return 0, nil, noInstance
	}
	return i, steps, oneInstance
}

// chosen makes the value of a block.
func (e *evaluator) chosen(s choice) (cty.Value, hcl.Diagnostics) {
	one := func(i int, wants []want) (cty.Value, hcl.Diagnostics) {
		if s.mods != nil {
			return e.moduleValue(s.mods[i], wants)
		}
		return e.instanceValue(&s.list[i], wants)
	}
	if s.of.repetition == once {
		return one(0, s.wantsOf(0))
	}
	var diags hcl.Diagnostics
	if !s.all { // HCL finds the attribute "2" of an object for the index 2
		attrs := make(map[string]cty.Value, len(s.wants))
		for _, c := range s.wants {
			v, d := one(c.i, c.wants)
			attrs[s.of.keyName(c.i)], diags = v, append(diags, d...)
		}
		return cty.ObjectVal(attrs), diags
	}
	items := make([]cty.Value, s.of.n)
	for i := range items {
		v, d := one(i, s.wantsOf(i))
		items[i], diags = v, append(diags, d...)
	}
	if s.of.repetition == counted {
		return cty.TupleVal(items), diags
	}
	attrs := make(map[string]cty.Value, len(items))
	for i, v := range items {
		attrs[s.of.keys[i]] = v
	}
	return cty.ObjectVal(attrs), diags
}

// moduleValue gives module.NAME: the outputs that are wanted.
func (e *evaluator) moduleValue(mod *module, wants []want) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	attrs := map[string]cty.Value{}
	add := func(name string) {
		if _, done := attrs[name]; !done && mod.block.outputs[name] != nil {
			v, d := e.outputValue(mod, name)
			attrs[name], diags = v, append(diags, d...)
		}
	}
	for _, w := range wants {
		if len(w.steps) > 0 {
			add(objectKey(w.steps[0]))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(mod.block.outputs)) {
			add(name)
		}
	}
	return cty.ObjectVal(attrs), diags
}

// outputValue gives an output of a module as its caller sees it.
func (e *evaluator) outputValue(mod *module, name string) (cty.Value, hcl.Diagnostics) {
	a := mod.block.outputs[name].attrs["value"]
	if a == nil {
		return cty.DynamicVal, nil
	}
	v, diags := e.memo(memoKey{mod: mod, kind: kindOutput, name: name}, a.Expr, func() (cty.Value, hcl.Diagnostics) {
		v, diags := e.value(a.Expr, mod.site())
		if flag := mod.block.outputs[name].attrs["sensitive"]; flag != nil && !diags.HasErrors() {
			hide, _ := e.m.optional(flag, cty.Bool, "the attribute sensitive of an output", mod.site())
			if hide != cty.NilVal && hide.True() {
				v = v.Mark(sensitive{})
			}
		}
		return v, diags
	})
	return v.value, diags
}
