package config

import (
	"deployster/config/limits"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// context is contextFor where errors have been reported already.
func (e *evaluator) context(expr hcl.Expression, owner *resource) *hcl.EvalContext {
	ctx, _ := e.contextFor(expr, owner)
	return ctx
}

// contextFor makes the evaluation context of one expression.
func (e *evaluator) contextFor(expr hcl.Expression, owner *resource) (*hcl.EvalContext, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	roots := map[string]map[string]cty.Value{}
	put := func(root, name string, v cty.Value) {
		if roots[root] == nil {
			roots[root] = map[string]cty.Value{}
		}
		roots[root][name] = v
	}
	wanted := map[string][]reference{}
	budget := limits.Text * 4
	for _, ref := range references(expr) {
		root, name := ref.t.RootName(), stepName(ref.t, 1)
		v, d := e.named(root, name)
		diags = append(diags, d...)
		if v != cty.NilVal {
			put(root, name, v)
			if budget -= limits.TextSize(v); budget < 0 {
				return nil, append(diags, limits.Exceeded(expr.Range(), "bytes of text put together in one expression", limits.Text*4))
			}
		}
		if address := e.address(root, name, owner); address != "" {
			wanted[address] = append(wanted[address], ref)
		}
	}
	for _, address := range sortedKeys(wanted) {
		v, d := e.resourceValue(address, wanted[address])
		diags = append(diags, d...)
		for _, ref := range wanted[address] {
			put(ref.t.RootName(), stepName(ref.t, 1), v)
		}
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: e.m.functions}
	for root, attrs := range roots {
		ctx.Variables[root] = cty.ObjectVal(attrs)
	}
	return ctx, diags
}

// named gives the value of root.name, cty.NilVal for resources and for what
// does not exist.
func (e *evaluator) named(root, name string) (cty.Value, hcl.Diagnostics) {
	m := e.m
	switch root {
	case "var":
		if v := m.declared.variables[name]; v != nil {
			return v.value, nil
		}
	case "local":
		if v, ok := m.static[name]; ok {
			return v, nil
		}
		if l := m.declared.locals[name]; l != nil {
			return e.memo(e.locals, name, l.expr, nil)
		}
	case "type":
		if t := m.declared.types[name]; t != nil {
			v, _ := m.staticAttr(t.attrs["image"], cty.String, "the image of a type")
			if v == cty.NilVal {
				return cty.UnknownVal(cty.String), nil // its error is said where it is declared
			}
			if e.markTypes {
				v = v.Mark(typeMark{name})
			}
			return v, nil
		}
	case "plug":
		for _, p := range m.plugs {
			if p.Name == name {
				return cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(p.Name), "path": cty.StringVal(p.Path), "read_only": cty.BoolVal(p.ReadOnly)}), nil
			}
		}
	case "path":
		return map[string]cty.Value{"cwd": cty.StringVal(m.src.Workspace), "module": cty.StringVal(m.src.Dir), "root": cty.StringVal(m.src.Dir)}[name], nil
	case "deployster":
		return map[string]cty.Value{"version": cty.StringVal(m.builtins.Version), "verbose": cty.BoolVal(m.builtins.Verbose), "workspace": cty.StringVal(m.builtins.Workspace)}[name], nil
	}
	return cty.NilVal, nil
}

// address is the resource that resource.NAME or dep.ALIAS stands for.
func (e *evaluator) address(root, name string, owner *resource) string {
	if root == "dep" && owner != nil {
		return owner.aliases[name].address
	}
	if root == "resource" && e.m.declared.resources[name] != nil {
		return name
	}
	return ""
}

// reference is a traversal in an expression.
type reference struct {
	t hcl.Traversal
	// open: what the traversal leads to is indexed by a computed key.
	open bool
}

// references are the traversals of an expression.
func references(expr hcl.Expression) []reference {
	var out []reference
	open := map[string]bool{}
	if n, ok := expr.(hclsyntax.Node); ok {
		_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
			if ix, ok := n.(*hclsyntax.IndexExpr); ok {
				if s, ok := ix.Collection.(*hclsyntax.ScopeTraversalExpr); ok {
					open[s.SrcRange.String()] = true
				}
			}
			return nil
		})
	}
	for _, t := range expr.Variables() {
		out = append(out, reference{t, open[t.SourceRange().String()]})
	}
	return out
}
