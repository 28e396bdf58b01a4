package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/values"
)

// ExpandHost determines the instances of a host block.
func (m *Modules) ExpandHost(x *instance.Expansion, b *decl.Block) hcl.Diagnostics {
	x.Mod, x.Address, x.N = m.Top, "host."+b.Name, 1
	attr, what := b.Attrs["for_each"], "the for_each of a host"
	if attr != nil {
		x.Repetition = instance.ForEach
	} else if attr, what = b.Attrs["count"], "the count of a host"; attr != nil {
		x.Repetition = instance.Counted
	} else {
		return nil
	}
	x.Expr, x.N = attr.Expr, 0
	v, diags := m.staticAt(attr.Expr, cty.DynamicPseudoType, decl.Usage{What: what, Static: true}, x.Scope())
	if !diags.HasErrors() {
		if d := x.Take(v, attr.Expr); d != nil {
			diags = append(diags, d)
		}
	}
	x.Invalid = diags.HasErrors()
	x.Pending = x.Pending || x.Invalid
	return diags
}

// NeedsStates reports whether an expression in a host block depends on states.
func (m *Modules) NeedsStates(expr hcl.Expression, b *decl.Module) bool {
	found := false
	for _, ref := range m.Refs.References(expr) {
		name := refs.StepName(ref.Traversal, 1)
		switch root := ref.Traversal.RootName(); root {
		case "host":
			return false // a host block cannot depend on another host: that error is reported as known too late
		case "resource", "module", "publish":
			found = true
		case "local":
			found = found || b.Locals[name] != nil && b.Locals[name].NeedsState
		}
	}
	return found
}

// LateAttr evaluates an attribute that depends on states. The result is cty.NilVal
// while it is unknown, and always without an evaluator.
func (m *Modules) LateAttr(a *hcl.Attribute, want cty.Type, p decl.Usage, at instance.Scope, e *Evaluator) (cty.Value, hcl.Diagnostics) {
	if diags := m.Checker.CheckRefs(a.Expr, p, at.Mod.Decl); diags.HasErrors() || e == nil {
		return cty.NilVal, diags
	}
	v, diags := e.Value(a.Expr, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, diags = ConvertTo(v, want, a.Expr.Range(), p.What)
	switch {
	case diags.HasErrors() || !v.IsWhollyKnown() || v.IsNull():
		return cty.NilVal, diags
	case v.HasMarkDeep(values.Sensitive{}):
		return cty.NilVal, append(diags, sensitiveShown(a, p))
	}
	v, _ = v.UnmarkDeep() // values that are only expected to stay are evaluated again in the apply
	return v, diags
}

// HostValues returns the instances of a host as values of expressions, including the
// attributes that depend on states.
func HostValues(e *Evaluator, s *instance.HostSet) ([]cty.Value, hcl.Diagnostics) {
	if !s.IsLate() {
		return s.Each, nil
	}
	var diags hcl.Diagnostics
	each := slices.Clone(s.Each)
	for i, h := range s.List {
		attrs := each[i].AsValueMap()
		if slices.Contains(h.Late, "address") {
			v, d := e.Value(h.Decl.Attrs["address"].Expr, h.At)
			if diags = append(diags, d...); d.HasErrors() {
				return s.Each, diags
			}
			v, d = ConvertTo(v, cty.String, h.Decl.Attrs["address"].Expr.Range(), "the address of a host")
			diags, attrs["address"] = append(diags, d...), v
		}
		if facts, known := e.scope.HostFacts(h.Name); known {
			attrs["facts"] = instance.FactsValue(facts)
		}
		each[i] = cty.ObjectVal(attrs)
	}
	return each, diags
}

// eachHost returns each.value for for_each = host.NAME.
func eachHost(e *Evaluator, x *instance.Expansion, key string) (values.Sized, bool) {
	ref, ok := e.M.Refs.AsReference(x.Expr)
	if !ok || len(ref.Traversal) != 2 || ref.Key != nil || ref.Traversal.RootName() != "host" {
		return values.Sized{}, false
	}
	s := e.M.Hosts.Set(refs.StepName(ref.Traversal, 1), x.Mod)
	if s == nil || s.Pending || s.Repetition != instance.ForEach {
		return values.Sized{}, false
	}
	i := s.Index(cty.StringVal(key))
	if i < 0 {
		return values.Sized{}, false
	}
	each, diags := HostValues(e, s)
	if diags.HasErrors() {
		return values.Sized{}, false
	}
	return values.Sized{Value: each[i], Size: limits.TextSize(each[i])}, true
}
