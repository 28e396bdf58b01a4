package eval

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/source"
)

// ResourceSet returns the instances of a resource block, nil if it is not declared.
// It creates them on the first call, because the for_each of one block may depend on
// the instances of another.
func (m *Modules) ResourceSet(e *Evaluator, mod *instance.Module, name string) *instance.ResourceSet {
	if s, ok := mod.Resources[name]; ok {
		return s
	}
	block := mod.Decl.Resources[name]
	if block == nil {
		return nil
	}
	s := &instance.ResourceSet{}
	mod.Resources[name] = s
	e.expand(&s.Expansion, mod, mod.Join(name), &block.Block)
	s.List = make([]instance.Instance, s.N)
	for i := range s.List {
		at := instance.Occurrence{}
		if s.Repetition != instance.Once {
			at = instance.Occurrence{Of: &s.Expansion, I: i}
		}
		s.List[i] = instance.Instance{Decl: block, Mod: mod, At: at}
		s.List[i].Resource = instance.Resource{Address: mod.Join(name) + at.Key(), Range: source.FromHCL(block.At),
			OnRemove: instance.OnRemoveDestroy}
	}
	m.countInstances(s.N, block.At)
	return s
}

// ModuleSet returns the instances of a module block, nil if it is not declared or its
// source could not be read.
func (m *Modules) ModuleSet(e *Evaluator, mod *instance.Module, name string) *instance.ModuleSet {
	if s, ok := mod.Children[name]; ok {
		return s
	}
	block := mod.Decl.Children[name]
	if block == nil {
		return nil
	}
	s := &instance.ModuleSet{}
	mod.Children[name] = s
	address := mod.Join("module." + name)
	e.expand(&s.Expansion, mod, address, &block.Call.Block)
	s.List = make([]*instance.Module, s.N)
	for i := range s.List {
		at := instance.Occurrence{}
		if s.Repetition != instance.Once {
			at = instance.Occurrence{Of: &s.Expansion, I: i}
		}
		s.List[i] = instance.NewModule(block, mod, at, address+at.Key())
	}
	m.countInstances(s.N, block.Call.At)
	return s
}

// countInstances counts instances, and reports once that there are too many.
func (m *Modules) countInstances(n int, at hcl.Range) {
	if m.Count += n; m.Count > instance.MaxInstances && m.Count-n <= instance.MaxInstances {
		m.Diags = append(m.Diags, limits.Exceeded(at, "instances", instance.MaxInstances))
	}
}

// expand determines the instances of a block.
func (e *Evaluator) expand(x *instance.Expansion, mod *instance.Module, address string, b *decl.Block) {
	x.Mod, x.Address, x.N = mod, address, 1
	a := b.Attrs["for_each"]
	if a != nil {
		x.Repetition = instance.ForEach
	} else if a = b.Attrs["count"]; a != nil {
		x.Repetition = instance.Counted
	} else if a = b.Attrs["enabled"]; a != nil {
		x.Repetition = instance.Optional
	} else {
		return
	}
	x.Expr, x.N = a.Expr, 0
	if e.M.Count > instance.MaxInstances || b.Invalid {
		x.Invalid, x.Pending = true, true
		return
	}
	if pinned, ok := e.M.Pinned[address]; ok && x.Fits(pinned) {
		x.Learned, x.N, x.Keys = true, len(pinned.Keys), pinned.Keys
		if pinned.Count != nil {
			x.N = *pinned.Count
		}
		return
	}
	v, diags := e.Value(a.Expr, instance.Scope{Mod: mod})
	if !diags.HasErrors() {
		var d *hcl.Diagnostic
		if d = x.Take(v, a.Expr); d != nil {
			diags = append(diags, d)
		}
	}
	x.Invalid = diags.HasErrors()
	x.Pending = x.Pending || x.Invalid
	e.M.Diags = append(e.M.Diags, diags...)
	if x.Pending && !x.Invalid {
		e.M.Pending = append(e.M.Pending, instance.Pending{Address: address, Range: source.FromHCL(b.At), X: x})
	}
}
