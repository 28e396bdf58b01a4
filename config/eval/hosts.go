package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/runtime/runner"
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

// HostAt returns the host that an attribute selects, nil for none. Only which host it
// is must be known.
func (m *Modules) HostAt(a *hcl.Attribute, what string, at instance.Scope) (*runner.Host, hcl.Diagnostics) {
	if a == nil {
		return nil, nil
	}
	p := decl.Usage{What: what, Static: true, Hosts: true, Late: true}
	if at.Res != nil {
		p.Repeated = &at.Res.Decl.Block
	}
	if diags := m.Checker.CheckRefs(a.Expr, p, at.Mod.Decl); diags.HasErrors() {
		return nil, diags
	}
	e := m.Evaluator(nil)
	v, diags := e.Value(a.Expr, at)
	if diags.HasErrors() {
		return nil, diags
	}
	v, marks := v.Unmark()
	name, found := cty.NilVal, false
	if v.IsKnown() && !v.IsNull() {
		name, found = values.Part(v, "name")
	}
	hidden := marks.Has(values.Sensitive{}) || found && name.HasMark(values.Sensitive{})
	if found {
		name, _ = name.Unmark()
	}
	switch {
	case hidden:
		return nil, append(diags, source.Failure(a.Expr.Range(), "A sensitive value would be printed",
			"%s cannot be sensitive, because it is shown in plans and messages.", values.Capital(what)))
	case v.IsNull():
		return nil, diags
	case !v.IsKnown(), found && !name.IsKnown():
		open := e.UnknownRefs(a.Expr, at)
		if len(open) == 0 || m.Tree.HasUnsetVars || m.Hosts.Invalid() { // reported elsewhere, now or later
			return nil, diags
		}
		return nil, append(diags, source.Failure(a.Expr.Range(), "Known too late", "This host depends on %s, and %s must be known "+
			"before any state is read. Use variables and constants to choose it.", strings.Join(open, ", "), what))
	case !found || name.IsNull() || name.Type() != cty.String:
		return nil, append(diags, m.noHost(a, what, v))
	}
	host := m.Hosts.Named[name.AsString()]
	if host == nil {
		return nil, append(diags, m.noHost(a, what, v))
	}
	return &host.Host, diags
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
	v, diags = convertTo(v, want, a.Expr.Range(), p.What)
	switch {
	case diags.HasErrors() || !v.IsWhollyKnown() || v.IsNull():
		return cty.NilVal, diags
	case v.HasMarkDeep(values.Sensitive{}):
		return cty.NilVal, append(diags, sensitiveShown(a, p))
	}
	v, _ = v.UnmarkDeep() // values that are only expected to stay are evaluated again in the apply
	return v, diags
}

// hostValues returns the instances of a host as values of expressions, including the
// attributes that depend on states.
func hostValues(e *Evaluator, s *instance.HostSet) ([]cty.Value, hcl.Diagnostics) {
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
			v, d = convertTo(v, cty.String, h.Decl.Attrs["address"].Expr.Range(), "the address of a host")
			diags, attrs["address"] = append(diags, d...), v
		}
		if facts, known := e.scope.HostFacts(h.Name); known {
			attrs["facts"] = instance.FactsValue(facts)
		}
		each[i] = cty.ObjectVal(attrs)
	}
	return each, diags
}

// HostsOf returns the hosts that a reference reads.
func HostsOf(e *Evaluator, ref refs.Reference, at instance.Scope) (list []*instance.Host) {
	c := e.Choose("host", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if set := e.M.Hosts.Set(refs.StepName(ref.Traversal, 1), at.Mod); set != nil && c.Of != nil && !c.Of.Pending {
		c.each(func(i int) { list = append(list, &set.List[i]) })
	}
	return list
}

// noHost returns the error for a value that is not a declared host.
func (m *Modules) noHost(a *hcl.Attribute, what string, v cty.Value) *hcl.Diagnostic {
	if ref, ok := m.Refs.AsReference(a.Expr); ok && ref.Traversal.RootName() == "host" && len(ref.Traversal) == 2 && ref.Key == nil {
		short := refs.TraversalString(ref.Traversal)
		return source.Failure(a.Expr.Range(), "One of several", "%s is one host, and %s has instances: write %s[each.key] or "+
			"%s[count.index], or choose one by its key.", values.Capital(what), short, short, short)
	}
	return source.Failure(a.Expr.Range(), "Not a host", "%s is a declared host, host.NAME or host.NAME[\"KEY\"], and this %s.",
		values.Capital(what), values.Describe(v))
}

// LackedFacts returns the names of the hosts with unknown facts that a reference
// reads, and the parts that it reads, as a manifest would write them.
func LackedFacts(e *Evaluator, ref refs.Reference, at instance.Scope) (names, reads []string) {
	c := e.Choose("host", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if c.Of == nil {
		return nil, nil
	}
	block := refs.TraversalString(ref.Traversal[:2])
	if c.Of.Pending {
		return nil, []string{block}
	}
	set := e.M.Hosts.Set(refs.StepName(ref.Traversal, 1), at.Mod)
	each, diags := hostValues(e, set)
	if diags.HasErrors() {
		return nil, nil // reported where it is evaluated
	}
	lacks := func(i int, attr string, w want) bool {
		return (len(w.Steps) == 0 || refs.ObjectKey(w.Steps[0]) == attr) && !each[i].GetAttr(attr).IsKnown()
	}
	c.each(func(i int) {
		for _, w := range c.wantsOf(i) {
			switch facts := lacks(i, "facts", w); {
			case facts:
				names = append(names, set.List[i].Name)
			case !lacks(i, "address", w):
				continue
			}
			switch {
			case c.All:
				reads = []string{block}
			case len(w.Steps) == 0:
				reads = append(reads, "host."+set.List[i].Name+".facts")
			default:
				reads = append(reads, "host."+set.List[i].Name+refs.TraversalString(w.Steps))
			}
		}
	})
	return names, reads
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
	each, diags := hostValues(e, s)
	if diags.HasErrors() {
		return values.Sized{}, false
	}
	return values.Sized{Value: each[i], Size: limits.TextSize(each[i])}, true
}
