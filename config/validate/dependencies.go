package validate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/source"
)

// aliases decodes `dependencies = { alias = resource.NAME }`.
func (ck Checker) aliases(b *decl.Module, r *decl.Resource) hcl.Diagnostics {
	a := r.Attrs["dependencies"]
	if a == nil {
		return nil
	}
	pairs, bad := hcl.ExprMap(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		return hcl.Diagnostics{source.Failure(a.Expr.Range(), "Invalid dependencies", "Dependencies are written as { "+
			"alias = resource.NAME }.")}
	}
	r.Aliases = map[string]decl.Dependency{}
	var diags hcl.Diagnostics
	for _, pair := range pairs {
		key, d := pair.Key.Value(nil)
		if d.HasErrors() || key.Type() != cty.String || !key.IsKnown() || key.IsNull() || !source.IsName(key.AsString()) {
			diags = append(diags, source.Failure(pair.Key.Range(), "Invalid alias",
				"An alias is a name: it begins with a letter and has letters, digits, _ and - only."))
			continue
		}
		alias := key.AsString()
		if first, twice := r.Aliases[alias]; twice {
			diags = append(diags, source.Failure(pair.Key.Range(), "Declared twice",
				"The alias %q is used already, at %s:%d. Rename one of them.", alias, first.At.Filename, first.At.Start.Line))
			continue
		}
		t, problem := ck.dependency(b, pair.Value, "The dependency "+alias, false)
		if problem != nil {
			diags = append(diags, problem)
			t = decl.Dependency{At: pair.Value.Range()} // the alias is still declared, so that its uses are not errors too
		}
		r.Aliases[alias] = t
	}
	return diags
}

// dependsOn decodes `depends_on = [resource.NAME, module.NAME]`, or a subscribe.
func (ck Checker) dependsOn(b *decl.Module, a *hcl.Attribute) ([]decl.Dependency, hcl.Diagnostics) {
	if a == nil {
		return nil, nil
	}
	list, bad := hcl.ExprList(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		return nil, hcl.Diagnostics{source.Failure(a.Expr.Range(), "Invalid "+a.Name,
			"It is a list of resources and modules: %s = [resource.NAME].", a.Name)}
	}
	var out []decl.Dependency
	var diags hcl.Diagnostics
	for _, item := range list {
		t, problem := ck.dependency(b, item, "An element of "+a.Name, true)
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		out = append(out, t)
	}
	return out, diags
}

// dependency decodes an expression that must be resource.NAME, or one instance of it;
// with several, it may also be a resource with many instances or module.NAME.
func (ck Checker) dependency(b *decl.Module, expr hcl.Expression, what string, several bool) (decl.Dependency, *hcl.Diagnostic) {
	at := expr.Range()
	ref, ok := ck.Refs.AsReference(expr)
	name := refs.StepName(ref.Traversal, 1)
	if ok && len(ref.Traversal) == 2 && ref.Traversal.RootName() == "publish" && ref.Key == nil {
		return ck.published(b, ref, at)
	}
	isModule := ok && several && ref.Traversal.RootName() == "module"
	steps := len(ref.Traversal)
	if ref.Key != nil {
		steps++
	}
	if !ok || ref.Traversal.RootName() != "resource" && !isModule || name == "" || steps > 3 || len(ref.Rest) > 0 {
		return decl.Dependency{}, source.Failure(at, "Not a resource", "%s must name a resource: resource.NAME.%s", what,
			ck.dependencyHint(b, ref))
	}
	t := decl.Dependency{Ref: ref, At: at}
	var declared *decl.Block
	if isModule {
		if d := missing(ref.Traversal, b, decl.Usage{}); d != nil {
			return decl.Dependency{}, d
		}
		t.Call = b.Calls[name]
		declared = &t.Call.Block
	} else {
		if d := missing(ref.Traversal, b, decl.Usage{}); d != nil {
			return decl.Dependency{}, d
		}
		t.Resource = b.Resources[name]
		declared = &t.Resource.Block
	}
	short := refs.TraversalString(ref.Traversal[:2])
	switch {
	case steps == 3 && !declared.Repeats():
		if ref.Key == nil {
			if _, attr := ref.Traversal[2].(hcl.TraverseAttr); attr {
				return decl.Dependency{}, source.Failure(at, "Not a resource", "%s must name a resource: resource.NAME. Did you mean %s?",
					what, short)
			}
		}
		return decl.Dependency{}, source.Failure(at, "No instances",
			"%s has no for_each and no count, so that it has no instances to choose from: write %s.", short, short)
	case steps == 3:
		if ref.Key == nil {
			if _, attr := ref.Traversal[2].(hcl.TraverseAttr); attr {
				return decl.Dependency{}, source.Failure(at, "Not a resource",
					"%s must name a resource. An instance is written with its key in brackets: %s.", what, example(short, declared))
			}
		}
	case declared.Repeats() && !several:
		return decl.Dependency{}, source.Failure(at, "One of several",
			"%s has instances, because of its %s, and an alias stands for one of them: write "+
				"%s.", short, repetitionWord(declared), example(short,
				declared))
	}
	return t, nil
}

// example returns how a manifest refers to an instance of a block.
func example(short string, b *decl.Block) string {
	if b.Attrs["count"] != nil {
		return short + "[0]"
	}
	return short + `["KEY"], or ` + short + "[each.key] in a block with the same for_each"
}

func repetitionWord(b *decl.Block) string {
	if b.Attrs["count"] != nil {
		return "count"
	}
	return "for_each"
}

func (ck Checker) dependencyHint(b *decl.Module, ref refs.Reference) string {
	switch {
	case len(ref.Traversal) == 0:
		return ""
	case len(ref.Traversal) == 1 && b.Resources[ref.Traversal.RootName()] != nil:
		return fmt.Sprintf(" Did you mean resource.%s?", ref.Traversal.RootName())
	case len(ref.Traversal) > 2 && ref.Traversal.RootName() == "resource":
		return fmt.Sprintf(" Did you mean %s?", refs.TraversalString(ref.Traversal[:2]))
	case len(ref.Traversal) >= 2 && ref.Traversal.RootName() == "module":
		return " A module is not a resource: use its outputs. depends_on may name a module."
	}
	return ""
}
