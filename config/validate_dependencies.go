package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// aliases reads `dependencies = { alias = resource.NAME }`.
func (ck checker) aliases(b *moduleBlock, r *resource) hcl.Diagnostics {
	a := r.attrs["dependencies"]
	if a == nil {
		return nil
	}
	pairs, bad := hcl.ExprMap(unparen(a.Expr))
	if bad.HasErrors() {
		return hcl.Diagnostics{failure(a.Expr.Range(), "Invalid dependencies", "Dependencies are written as { alias = resource.NAME }.")}
	}
	r.aliases = map[string]dependency{}
	var diags hcl.Diagnostics
	for _, pair := range pairs {
		key, d := pair.Key.Value(nil)
		if d.HasErrors() || key.Type() != cty.String || !key.IsKnown() || key.IsNull() || !validName.MatchString(key.AsString()) {
			diags = append(diags, failure(pair.Key.Range(), "Invalid alias", "An alias is a name: it begins with a letter and has letters, digits, _ and - only."))
			continue
		}
		alias := key.AsString()
		if first, twice := r.aliases[alias]; twice {
			diags = append(diags, failure(pair.Key.Range(), "Declared twice", "The alias %q is there already, at %s:%d. Rename one of them.", alias, first.at.Filename, first.at.Start.Line))
			continue
		}
		t, problem := ck.dependency(b, pair.Value, "The dependency "+alias, false)
		if problem != nil {
			diags = append(diags, problem)
			t = dependency{at: pair.Value.Range()} // an alias all the same, so that its uses are no errors too
		}
		r.aliases[alias] = t
	}
	return diags
}

// dependsOn reads `depends_on = [resource.NAME, module.NAME]`.
func (ck checker) dependsOn(b *moduleBlock, a *hcl.Attribute) ([]dependency, hcl.Diagnostics) {
	if a == nil {
		return nil, nil
	}
	list, bad := hcl.ExprList(unparen(a.Expr))
	if bad.HasErrors() {
		return nil, hcl.Diagnostics{failure(a.Expr.Range(), "Invalid depends_on", "It is a list of resources and modules: depends_on = [resource.NAME].")}
	}
	var out []dependency
	var diags hcl.Diagnostics
	for _, item := range list {
		t, problem := ck.dependency(b, item, "An element of depends_on", true)
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		out = append(out, t)
	}
	return out, diags
}

// dependency reads an expression that must be resource.NAME, or one instance of it;
// where several can be meant, all of them or module.NAME too.
func (ck checker) dependency(b *moduleBlock, expr hcl.Expression, what string, several bool) (dependency, *hcl.Diagnostic) {
	at := expr.Range()
	ref, ok := ck.refs.asReference(expr)
	name := stepName(ref.t, 1)
	isModule := ok && several && ref.t.RootName() == "module"
	steps := len(ref.t)
	if ref.key != nil {
		steps++
	}
	if !ok || ref.t.RootName() != "resource" && !isModule || name == "" || steps > 3 || len(ref.rest) > 0 {
		return dependency{}, failure(at, "Not a resource", "%s must name a resource: resource.NAME.%s", what, ck.dependencyHint(b, ref))
	}
	t := dependency{ref: ref, at: at}
	var decl *block
	if isModule {
		if d := missing(ref.t, "module", b.calls, "Declare it with a module block, or correct the name"); d != nil {
			return dependency{}, d
		}
		t.call = b.calls[name]
		decl = &t.call.block
	} else {
		if d := missing(ref.t, "resource", b.resources, "Declare it with a resource block, or correct the name"); d != nil {
			return dependency{}, d
		}
		t.resource = b.resources[name]
		decl = &t.resource.block
	}
	short := traversalString(ref.t[:2])
	switch {
	case steps == 3 && !decl.repeats():
		if ref.key == nil {
			if _, attr := ref.t[2].(hcl.TraverseAttr); attr {
				return dependency{}, failure(at, "Not a resource", "%s must name a resource: resource.NAME. Did you mean %s?", what, short)
			}
		}
		return dependency{}, failure(at, "No instances", "%s has no for_each and no count, so that it has no instances to choose from: write %s.", short, short)
	case steps == 3:
		if ref.key == nil {
			if _, attr := ref.t[2].(hcl.TraverseAttr); attr {
				return dependency{}, failure(at, "Not a resource", "%s must name a resource. An instance is written with its key in brackets: %s.", what, example(short, decl))
			}
		}
	case decl.repeats() && !several:
		return dependency{}, failure(at, "One of several", "%s has instances, because of its %s, and an alias stands for one of them: write %s.", short, repetitionWord(decl), example(short, decl))
	}
	return t, nil
}

// example shows how an instance of a block is written.
func example(short string, b *block) string {
	if b.attrs["count"] != nil {
		return short + "[0]"
	}
	return short + `["KEY"], or ` + short + "[each.key] in a block with the same for_each"
}

func repetitionWord(b *block) string {
	if b.attrs["count"] != nil {
		return "count"
	}
	return "for_each"
}

func (ck checker) dependencyHint(b *moduleBlock, ref reference) string {
	switch {
	case len(ref.t) == 0:
		return ""
	case len(ref.t) == 1 && b.resources[ref.t.RootName()] != nil:
		return fmt.Sprintf(" Did you mean resource.%s?", ref.t.RootName())
	case len(ref.t) > 2 && ref.t.RootName() == "resource":
		return fmt.Sprintf(" Did you mean %s?", traversalString(ref.t[:2]))
	case len(ref.t) >= 2 && ref.t.RootName() == "module":
		return " A module is none: what it gives are its outputs. depends_on may name a module."
	}
	return ""
}
