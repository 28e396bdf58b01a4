package validate

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
)

// checkAllRefs checks the references in the expressions of a module that are
// evaluated with everything; static ones are checked where they are evaluated.
func (ck Checker) checkAllRefs(b *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.Locals)) {
		l := b.Locals[name]
		d := ck.CheckRefs(l.Expr, Usage{What: "a local value"}, b, nil)
		l.Invalid = d.HasErrors()
		diags = append(diags, d...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Resources)) {
		r := b.Resources[name]
		diags = append(diags, ck.checkRepetition(&r.Block, b)...)
		for _, t := range r.DependsOn {
			diags = append(diags, ck.CheckKey(t, &r.Block, b)...)
		}
		for _, alias := range slices.Sorted(maps.Keys(r.Aliases)) {
			diags = append(diags, ck.CheckKey(r.Aliases[alias], &r.Block, b)...)
		}
		for _, expr := range r.Expressions() {
			diags = append(diags, ck.CheckRefs(expr, Usage{What: "the config of a resource", Repeated: &r.Block}, b, r)...)
		}
		for _, c := range r.Conditions() {
			diags = append(diags, ck.checkCondition(c, b, r)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Variables)) {
		if v := b.Variables[name]; v.NeedsState { // the others are checked where they are evaluated
			for _, check := range v.Checks {
				for _, attr := range slices.Sorted(maps.Keys(check)) {
					diags = append(diags, ck.CheckRefs(check[attr].Expr, Usage{What: "a validation", Static: true, late: true}, b, nil)...)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Outputs)) {
		if a := b.Outputs[name].Attrs["value"]; a != nil {
			diags = append(diags, ck.CheckRefs(a.Expr, Usage{What: "the value of an output"}, b, nil)...)
		}
		for _, c := range b.Outputs[name].Before {
			diags = append(diags, ck.checkCondition(c, b, nil)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Checks)) {
		for _, c := range b.Checks[name].Asserts {
			diags = append(diags, ck.checkCondition(c, b, nil)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Calls)) {
		c := b.Calls[name]
		diags = append(diags, ck.checkRepetition(&c.Block, b)...)
		for _, t := range c.DependsOn {
			diags = append(diags, ck.CheckKey(t, &c.Block, b)...)
		}
		for _, input := range c.Inputs() {
			diags = append(diags, ck.CheckRefs(c.Attrs[input].Expr, Usage{What: "a variable of a module", Repeated: &c.Block}, b, nil)...)
		}
	}
	return diags
}

// checkRepetition checks the references of for_each and count.
func (ck Checker) checkRepetition(r *decl.Block, b *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range []string{"for_each", "count"} {
		if a := r.Attrs[name]; a != nil {
			diags = append(diags, ck.CheckRefs(a.Expr, Usage{What: "the " + name + " of a block"}, b, nil)...)
		}
	}
	r.Invalid = diags.HasErrors()
	return diags
}

// CheckKey checks the computed key of resource.NAME[KEY] in dependencies or
// depends_on.
func (ck Checker) CheckKey(t decl.Dependency, owner *decl.Block, b *decl.Module) hcl.Diagnostics {
	if t.Ref.Key == nil {
		return nil
	}
	return ck.CheckRefs(t.Ref.Key, Usage{What: "the key of an instance", Static: true, Repeated: owner}, b, nil)
}
