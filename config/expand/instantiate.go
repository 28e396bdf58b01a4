package expand

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/edges"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/jsondoc"
)

// Instantiate creates the instances, and evaluates everything that needs no state.
func (m *Instances) Instantiate(wrong bool) hcl.Diagnostics {
	diags := slices.Concat(m.Modules.ReadRemotes(), m.readHosts(), m.makeInstances())
	static := m.Modules.Evaluator(nil)
	m.Modules.Top.Each(func(mod *instance.Module) { diags = append(diags, m.evaluateStatic(static, mod)...) })
	diags = append(diags, signedTwice(m.Modules.Top)...)
	e := m.Modules.Evaluator(nil) // static cached resources without their types
	e.Dry = true
	if d := edges.Link(m.Modules, m.List, e); d.HasErrors() {
		return append(diags, d...)
	}
	m.Modules.Top.Each(func(mod *instance.Module) {
		diags = append(diags, m.Modules.ValidateVariables(mod)...)
		diags = append(diags, m.checkMoved(mod)...)
		diags = append(diags, m.checkRemoved(mod)...)
	})
	if !wrong && !diags.HasErrors() {
		diags = append(diags, m.operationTargets()...)
		diags = append(diags, passing{m.Resources, m.Modules}.check()...)
		diags = append(diags, m.neverKnown()...)
		diags = append(diags, m.tryAll(e)...)
	}
	return diags
}

// neverKnown returns an error for each block whose instances would stay unknown even with all states.
func (m *Instances) neverKnown() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, p := range m.Modules.Pending {
		if len(p.Needs) > 0 || p.Waits || len(p.Artifacts)+len(p.Facts) > 0 || m.Modules.Tree.Vars.HasUnset {
			continue
		}
		diags = append(diags, source.Failure(p.X.Expr.Range(), "Instances that cannot be known yet",
			"How many instances there are must be known for the plan, and this has something in it that is known only while it is "+
				"applied, such as what timestamp() and uuid() give. Use variables and constants."))
	}
	return diags
}

// makeInstances expands every block that needs no state for it.
func (m *Instances) makeInstances() hcl.Diagnostics {
	e := m.Modules.Evaluator(nil)
	m.makeAll(e, m.Modules.Top)
	m.Modules.Top.Each(func(mod *instance.Module) {
		for _, s := range mod.Resources {
			for i := range s.List {
				m.List = append(m.List, &s.List[i])
			}
		}
	})
	slices.SortFunc(m.List, func(a, b *instance.Instance) int { return strings.Compare(a.Address, b.Address) })
	m.Resources = make([]*instance.Resource, 0, len(m.List))
	diags := m.Modules.Diags
	failed := map[*decl.Resource]bool{}
	for _, inst := range m.List {
		if inst.Decl.Check == nil {
			m.Resources = append(m.Resources, &inst.Resource)
		} else {
			m.Lookups = append(m.Lookups, &inst.Resource)
		}
		if !failed[inst.Decl] {
			d := m.resolveAliases(e, inst)
			diags = append(diags, d...)
			failed[inst.Decl] = d.HasErrors()
		}
	}
	return diags
}

func (m *Instances) makeAll(e *eval.Evaluator, mod *instance.Module) {
	for _, name := range slices.Sorted(maps.Keys(mod.Decl.Resources)) {
		m.Modules.ResourceSet(e, mod, name)
	}
	for _, name := range slices.Sorted(maps.Keys(mod.Decl.Children)) {
		if s := m.Modules.ModuleSet(e, mod, name); m.Modules.Count <= instance.MaxInstances {
			for _, child := range s.List {
				m.makeAll(e, child)
			}
		}
	}
}

// Concludes reports whether there are outputs or checks to evaluate.
func (m *Instances) Concludes() bool {
	some := false
	m.Modules.Top.Each(func(mod *instance.Module) {
		some = some || len(mod.Decl.Outputs)+len(mod.Decl.Checks) > 0 || mod != m.Modules.Top && len(mod.Decl.Variables) > 0
	})
	return some
}

// resolveAliases finds the resources of a resource's aliases, and checks the keys in
// its depends_on and subscribe.
func (m *Instances) resolveAliases(e *eval.Evaluator, i *instance.Instance) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if len(i.Decl.Aliases) > 0 {
		i.ByAlias = make(map[string]*instance.Instance, len(i.Decl.Aliases))
		i.Aliases = make(map[string]string, len(i.Decl.Aliases))
	}
	for _, alias := range jsondoc.Keys(i.Decl.Aliases) {
		t := i.Decl.Aliases[alias]
		if t.Resource == nil {
			continue
		}
		s, d := chooseDependency(e, t, i.Scope())
		if diags = append(diags, d...); d != nil || s.Of == nil {
			continue
		}
		if s.Of.Pending {
			i.WaitsFor = append(i.WaitsFor, s.Of.Address)
		}
		s.EachInstance(func(to *instance.Instance) {
			i.ByAlias[alias] = to
			i.Aliases[alias] = to.Address
		})
	}
	for _, t := range slices.Concat(i.Decl.DependsOn, i.Decl.Subscribe) {
		_, d := chooseDependency(e, t, i.Scope())
		diags = append(diags, d...)
	}
	return diags
}

// chooseDependency returns the instances that an element of dependencies or
// depends_on selects. It returns an error if no instance has its key.
func chooseDependency(e *eval.Evaluator, t decl.Dependency, at instance.Scope) (eval.Choice, hcl.Diagnostics) {
	root, name := "resource", ""
	if t.Call != nil {
		root, name = "module", t.Call.Name
	} else if name = t.Resource.Name; name == "" {
		return eval.Choice{}, nil
	}
	s := e.Choose(root, name, []refs.Reference{t.Ref}, at)
	keyed := t.Ref.Key != nil || len(t.Ref.Traversal) > 2
	if s.Of == nil || s.Of.Pending || !keyed || len(s.Wants) == 1 {
		return s, nil
	}
	if s.All && t.Ref.Key != nil && invalidKey(e, t, at) {
		return s, nil // already reported
	}
	if s.All {
		return s, hcl.Diagnostics{source.Failure(t.At, "Known too late", "The instance of %s is known only with the state of another "+
			"resource, and the order must be known before. Use each.key, count.index, variables and constants in the brackets.",
			refs.TraversalString(t.Ref.Traversal[:2]))}
	}
	d := source.Failure(t.At, "", "")
	eval.NoKey(d, refs.TraversalString(t.Ref.Traversal[:2]), s.Of, keyText(e, t.Ref, at))
	diags := hcl.Diagnostics{d}
	if t.Ref.Key != nil {
		e.Hide(diags, t.Ref.Key, at)
	}
	return s, diags
}

// invalidKey reports whether the computed key of a dependency has an invalid reference.
func invalidKey(e *eval.Evaluator, t decl.Dependency, at instance.Scope) bool {
	x := t.KeyOf(at.Owner())
	return e.M.Checker.CheckRefs(x.Expr, x.Usage, at.Mod.Decl).HasErrors()
}

// keyText returns the key of a reference as text.
func keyText(e *eval.Evaluator, ref refs.Reference, at instance.Scope) string {
	if ref.Key == nil {
		return refs.ObjectKey(ref.Traversal[2])
	}
	v, _ := e.Value(ref.Key, at) // its errors are already reported
	v, _ = v.Unmark()
	return refs.ObjectKey(hcl.TraverseIndex{Key: v})
}

// Expand expands those of the given pending blocks for which scope has all the states
// that they need, and the blocks that depend on their instances. It also returns those
// whose instances stay unknown.
func (m *Instances) Expand(blocks []instance.Pending, scope instance.States) (*Instances, []Unknown, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	var unknown []Unknown
	found := maps.Clone(m.Modules.Pinned)
	if found == nil {
		found = map[string]source.Instances{}
	}
	e := m.Modules.Evaluator(scope)
	for _, p := range blocks {
		missing := func(address string) bool { _, ok := scope[address]; return !ok }
		if p.Waits || slices.ContainsFunc(p.Needs, missing) {
			continue
		}
		i, refs, d := learn(e, p.X)
		diags = append(diags, d...)
		if len(refs) > 0 {
			unknown = append(unknown, Unknown{Pending: p, Refs: refs})
			continue
		}
		found[p.Address] = i
	}
	if diags.HasErrors() {
		return m, nil, diags
	}
	next, d := m.With(found)
	return next, unknown, append(diags, d...)
}

// With returns the instances when those of the pending blocks are given.
func (m *Instances) With(pinned map[string]source.Instances) (*Instances, hcl.Diagnostics) {
	next := &Instances{Modules: m.Modules.With(pinned)}
	return next, next.Instantiate(false)
}
