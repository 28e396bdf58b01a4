package validate

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/source"
)

// defaults merges the defaults of types into the configs of their resources. Each default
// becomes a local value of the module that declares the type, and a variable of each
// module inside, so that it is evaluated once, in its own module, and is followed like
// any other reference. Their names have a dot, which no name of a manifest has.
func (ck Checker) defaults(root *decl.Module) (diags hcl.Diagnostics) {
	given := map[*decl.Block][]refs.Member{} // without their expressions in each module, which differ
	for _, b := range root.All() {
		for _, name := range slices.Sorted(maps.Keys(b.Types)) {
			t := b.Types[name]
			if t.Attrs["defaults"] == nil {
				continue
			}
			members, ok := written(t.Attrs["defaults"].Expr)
			if !ok {
				diags = append(diags, source.Failure(t.Attrs["defaults"].Expr.Range(), "Invalid defaults",
					"The defaults of a type are written out as { NAME = VALUE }, because it must be known early which names they have. "+
						"The values may be any expressions."))
			}
			given[t] = members
			for _, m := range members {
				b.AddLocal(defaultName(t, m.Name), "the defaults of a type", m.Expr)
			}
		}
	}
	if len(given) == 0 {
		return diags
	}
	for _, b := range root.All() {
		types := b.TypeNames()
		for _, name := range slices.Sorted(maps.Keys(types)) {
			if t := types[name]; b.Types[name] != t {
				for _, m := range given[t] {
					b.AddVariable(defaultName(t, m.Name), t.At, reference(b.Parent, t, m))
				}
			}
		}
		for _, r := range b.Resources {
			if t := ck.typeOf(r, types); t != nil && given[t] != nil {
				r.DefaultsOf = t
				fillConfig(b, r, given[t])
			}
		}
	}
	return diags
}

// typeOf returns the one type block that the type of a resource refers to, nil if
// there are none or several.
func (ck Checker) typeOf(r *decl.Resource, types map[string]*decl.Block) (found *decl.Block) {
	a := r.Attrs["type"]
	if a == nil || r.Publish != nil {
		return nil
	}
	for _, ref := range ck.Refs.References(a.Expr) {
		if ref.Traversal.RootName() != "type" {
			continue
		}
		t := types[refs.StepName(ref.Traversal, 1)]
		if found != nil && found != t {
			return nil
		}
		found = t
	}
	return found
}

// fillConfig adds the defaults to a config. If the config is an object expression, it
// omits those that the config sets itself, so that the resource does not depend on them.
func fillConfig(b *decl.Module, r *decl.Resource, given []refs.Member) {
	config := &refs.Object{At: r.At}
	a := r.Attrs["config"]
	own := map[string]bool{}
	if a != nil {
		config.At = a.Expr.Range()
		members, ok := written(a.Expr)
		if !ok {
			config.Own = a.Expr
		}
		for _, m := range members {
			own[m.Name] = true
		}
		config.Members = members
	}
	for _, m := range given {
		if !own[m.Name] {
			config.Members = append(config.Members, refs.Member{Name: m.Name, Expr: reference(b, r.DefaultsOf, m)})
		}
	}
	r.Attrs = maps.Clone(r.Attrs)
	r.Attrs["config"] = &hcl.Attribute{Name: "config", Expr: config, Range: config.At, NameRange: config.At}
}

// written returns the members of an object expression with constant names.
func written(expr hcl.Expression) ([]refs.Member, bool) {
	pairs, bad := hcl.ExprMap(refs.Unparen(expr))
	if bad.HasErrors() {
		return nil, false
	}
	members := make([]refs.Member, 0, len(pairs))
	for _, pair := range pairs {
		key, d := pair.Key.Value(nil)
		if d.HasErrors() {
			return nil, false
		}
		key, err := convert.Convert(key, cty.String)
		if err != nil || key.IsNull() || !key.IsKnown() {
			return nil, false
		}
		members = append(members, refs.Member{Name: key.AsString(), Expr: pair.Value})
	}
	return members, true
}

func defaultName(t *decl.Block, key string) string { return "type." + t.Name + ".defaults." + key }

// reference returns a module's reference to one of the defaults of a type.
func reference(b *decl.Module, t *decl.Block, m refs.Member) hcl.Expression {
	root, at := "var", m.Expr.Range()
	if b.Types[t.Name] == t {
		root = "local"
	}
	return &hclsyntax.ScopeTraversalExpr{SrcRange: at, Traversal: hcl.Traversal{hcl.TraverseRoot{Name: root, SrcRange: at},
		hcl.TraverseAttr{Name: defaultName(t, m.Name), SrcRange: at}}}
}
