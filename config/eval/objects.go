package eval

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
)

// Want is what a reference reads of a resource or a module: the steps after its name
// and key. No steps mean the whole value.
type Want struct {
	Steps hcl.Traversal
	Open  bool
	At    hcl.Range
}

// object returns resource.NAME, dep.NAME or module.NAME as far as the references to
// it need it, which is often one instance of many.
func (e *Evaluator) object(root, name string, references []refs.Reference, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	if root == "dep" {
		if at.Res == nil || at.Res.ByAlias[name] == nil {
			return e.notEnabled(name, at), nil
		}
		var wants []Want
		for _, ref := range references {
			if ref.Traversal.RootName() == root && refs.StepName(ref.Traversal, 1) == name {
				wants = append(wants, Want{ref.Traversal[2:], ref.Open, ref.Traversal.SourceRange()})
			}
		}
		return e.InstanceValue(at.Res.ByAlias[name], wants)
	}
	s := e.Choose(root, name, references, at)
	switch {
	case s.Of == nil:
		return cty.NilVal, nil
	case s.Of.Pending:
		return cty.DynamicVal, nil
	}
	return e.chosen(s)
}

// Choice holds the instances of a block that references need, and what they read of each.
type Choice struct {
	Of      *instance.Expansion
	List    []instance.Instance // or
	Modules []*instance.Module
	All     bool
	Wants   []pick // of single instances, mostly one
	Every   []Want // of every instance
}

// pick is one instance, and what references read of it.
type pick struct {
	I     int
	Wants []Want
}

// add records what a reference reads of an instance.
func (s *Choice) add(i int, w Want) {
	for k := range s.Wants {
		if s.Wants[k].I == i {
			s.Wants[k].Wants = append(s.Wants[k].Wants, w)
			return
		}
	}
	s.Wants = append(s.Wants, pick{i, []Want{w}})
}

// WantsOf returns everything that references read of an instance.
func (s *Choice) WantsOf(i int) []Want {
	for _, c := range s.Wants {
		if c.I == i {
			return append(slices.Clone(c.Wants), s.Every...)
		}
	}
	return s.Every
}

// set returns the instances of a block.
func (e *Evaluator) set(root, name string, mod *instance.Module) Choice {
	if root == "module" {
		if s := e.M.ModuleSet(e, mod, name); s != nil {
			return Choice{Of: &s.Expansion, Modules: s.List}
		}
		return Choice{}
	}
	if root == "host" {
		if s := e.M.Hosts.Set(name, mod); s != nil {
			return Choice{Of: &s.Expansion}
		}
		return Choice{}
	}
	if s := e.M.ResourceSet(e, mod, name); s != nil {
		return Choice{Of: &s.Expansion, List: s.List}
	}
	return Choice{}
}

// Choose returns what the references to a name need.
func (e *Evaluator) Choose(root, name string, references []refs.Reference, at instance.Scope) Choice {
	named := name
	if root == "resource" {
		named = at.Block(name)
	}
	s := e.set(root, named, at.Mod)
	if s.Of == nil || s.Of.Pending {
		return s
	}
	for _, ref := range references {
		if ref.Traversal.RootName() != root || refs.StepName(ref.Traversal, 1) != name {
			continue
		}
		w := Want{Steps: ref.Traversal[2:], Open: ref.Open, At: ref.Traversal.SourceRange()}
		if s.Of.Single() {
			if s.Of.N == 1 {
				s.add(0, w)
			}
			continue
		}
		i, steps, which := e.which(ref, s.Of, at)
		w.Steps = steps
		switch which {
		case oneInstance:
			s.add(i, w)
		case allInstances:
			s.All, s.Every = true, append(s.Every, w)
		}
	}
	return s
}

// Which instances a reference selects.
const (
	oneInstance = iota
	noInstance  // no instance has its key
	allInstances
)

// which returns the instance that a reference selects, and what it reads of it.
func (e *Evaluator) which(ref refs.Reference, x *instance.Expansion, at instance.Scope) (i int, steps hcl.Traversal, which int) {
	var key cty.Value
	switch {
	case ref.Splat:
		return 0, ref.Rest, allInstances
	case ref.Key != nil:
		v, diags := e.Value(ref.Key, at)
		if diags.HasErrors() {
			return 0, nil, allInstances // reported where the expression is evaluated
		}
		key, steps = v, ref.Rest
	case len(ref.Traversal) > 2:
		step, ok := ref.Traversal[2].(hcl.TraverseIndex)
		if !ok {
			return 0, nil, allInstances
		}
		key, steps = step.Key, ref.Traversal[3:]
	default:
		return 0, nil, allInstances
	}
	key, _ = key.Unmark()
	wanted := cty.String
	if x.Repetition == instance.Counted {
		wanted = cty.Number
	}
	key, err := convert.Convert(key, wanted)
	if err != nil || !key.IsKnown() {
		return 0, nil, allInstances
	}
	if key.IsNull() {
		return 0, nil, noInstance
	}
	if i = x.Index(key); i < 0 {
		return 0, nil, noInstance
	}
	return i, steps, oneInstance
}

// chosen returns the value of a block.
func (e *Evaluator) chosen(s Choice) (cty.Value, hcl.Diagnostics) {
	one := func(i int, wants []Want) (cty.Value, hcl.Diagnostics) {
		if s.Modules != nil {
			return e.moduleValue(s.Modules[i], wants)
		}
		return e.InstanceValue(&s.List[i], wants)
	}
	switch {
	case s.Of.Single() && s.Of.N == 0:
		return cty.NullVal(cty.DynamicPseudoType), nil
	case s.Of.Single():
		return one(0, s.WantsOf(0))
	}
	var diags hcl.Diagnostics
	if !s.All { // HCL finds the attribute "2" of an object for the index 2
		attrs := make(map[string]cty.Value, len(s.Wants))
		for _, c := range s.Wants {
			v, d := one(c.I, c.Wants)
			attrs[s.Of.KeyName(c.I)], diags = v, append(diags, d...)
		}
		return cty.ObjectVal(attrs), diags
	}
	items := make([]cty.Value, s.Of.N)
	for i := range items {
		v, d := one(i, s.WantsOf(i))
		items[i], diags = v, append(diags, d...)
	}
	if s.Of.Repetition == instance.Counted {
		return cty.TupleVal(items), diags
	}
	attrs := make(map[string]cty.Value, len(items))
	for i, v := range items {
		attrs[s.Of.Keys[i]] = v
	}
	return cty.ObjectVal(attrs), diags
}

// moduleValue returns module.NAME with the outputs in wants.
func (e *Evaluator) moduleValue(mod *instance.Module, wants []Want) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	attrs := map[string]cty.Value{}
	add := func(name string) {
		if _, done := attrs[name]; !done && mod.Decl.Outputs[name] != nil {
			v, d := e.outputValue(mod, name)
			attrs[name], diags = v, append(diags, d...)
		}
	}
	for _, w := range wants {
		if len(w.Steps) > 0 {
			add(refs.ObjectKey(w.Steps[0]))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Outputs)) {
			add(name)
		}
	}
	return cty.ObjectVal(attrs), diags
}

// outputValue returns an output of a module as its caller sees it.
func (e *Evaluator) outputValue(mod *instance.Module, name string) (cty.Value, hcl.Diagnostics) {
	a := mod.Decl.Outputs[name].Attrs["value"]
	if a == nil {
		return cty.DynamicVal, nil
	}
	v, diags := e.memo(MemoKey{Mod: mod, Kind: KindOutput, Name: name}, a.Expr, func() (cty.Value, hcl.Diagnostics) {
		v, diags := e.Value(a.Expr, mod.Scope())
		if !diags.HasErrors() {
			var d hcl.Diagnostics
			v, d = mod.Decl.Outputs[name].Convert(v, a.Expr.Range())
			diags = append(diags, d...)
		}
		if flag := mod.Decl.Outputs[name].Attrs["sensitive"]; flag != nil && !diags.HasErrors() {
			hide, _ := e.M.Optional(flag, cty.Bool, "the attribute sensitive of an output", mod.Scope())
			if hide != cty.NilVal && hide.True() {
				v = v.Mark(values.Sensitive{})
			}
		}
		return v, diags
	})
	return v.Value, diags
}

// Steps returns the steps after the instance that one reference chose.
func (s Choice) Steps() hcl.Traversal {
	switch {
	case s.All:
		return s.Every[0].Steps
	case len(s.Wants) > 0:
		return s.Wants[0].Wants[0].Steps
	}
	return nil
}

// EachInstance calls f with each chosen resource.
func (s Choice) EachInstance(f func(*instance.Instance)) {
	s.Each(func(i int) {
		if s.List != nil {
			f(&s.List[i])
		}
	})
}

// EachModule calls f with each chosen module.
func (s Choice) EachModule(f func(*instance.Module)) {
	s.Each(func(i int) {
		if s.Modules != nil {
			f(s.Modules[i])
		}
	})
}

// Each calls f with the index of each chosen instance: often one of many.
func (s Choice) Each(f func(i int)) {
	if !s.All {
		for _, c := range s.Wants {
			f(c.I)
		}
		return
	}
	for i := range s.Of.N {
		f(i)
	}
}
