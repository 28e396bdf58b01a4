package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// checkAllRefs checks the references in the expressions of a module that are
// evaluated with everything; static ones are checked where they are evaluated.
func (ck checker) checkAllRefs(b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.locals)) {
		l := b.locals[name]
		d := ck.checkRefs(l.expr, place{what: "a local value"}, b, nil)
		l.wrong = d.HasErrors()
		diags = append(diags, d...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.resources)) {
		r := b.resources[name]
		diags = append(diags, ck.checkRepetition(&r.block, b)...)
		for _, t := range r.dependsOn {
			diags = append(diags, ck.checkKey(t, &r.block, b)...)
		}
		for _, alias := range slices.Sorted(maps.Keys(r.aliases)) {
			diags = append(diags, ck.checkKey(r.aliases[alias], &r.block, b)...)
		}
		for _, expr := range r.expressions() {
			diags = append(diags, ck.checkRefs(expr, place{what: "the config of a resource", repeated: &r.block}, b, r)...)
		}
		for _, c := range r.conditions() {
			diags = append(diags, ck.checkCondition(c, b, r)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.variables)) {
		if v := b.variables[name]; v.dynamic { // the others are checked where they are evaluated
			for _, check := range v.checks {
				for _, attr := range slices.Sorted(maps.Keys(check)) {
					diags = append(diags, ck.checkRefs(check[attr].Expr, place{what: "a validation", static: true, late: true}, b, nil)...)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.outputs)) {
		if a := b.outputs[name].attrs["value"]; a != nil {
			diags = append(diags, ck.checkRefs(a.Expr, place{what: "the value of an output"}, b, nil)...)
		}
		for _, c := range b.outputs[name].before {
			diags = append(diags, ck.checkCondition(c, b, nil)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.checks)) {
		for _, c := range b.checks[name].asserts {
			diags = append(diags, ck.checkCondition(c, b, nil)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		c := b.calls[name]
		diags = append(diags, ck.checkRepetition(&c.block, b)...)
		for _, t := range c.dependsOn {
			diags = append(diags, ck.checkKey(t, &c.block, b)...)
		}
		for _, input := range c.inputs() {
			diags = append(diags, ck.checkRefs(c.attrs[input].Expr, place{what: "a variable of a module", repeated: &c.block}, b, nil)...)
		}
	}
	return diags
}

// checkRepetition checks the references of for_each and count.
func (ck checker) checkRepetition(r *block, b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range []string{"for_each", "count"} {
		if a := r.attrs[name]; a != nil {
			diags = append(diags, ck.checkRefs(a.Expr, place{what: "the " + name + " of a block"}, b, nil)...)
		}
	}
	r.wrong = diags.HasErrors()
	return diags
}

// checkKey checks the computed key of resource.NAME[KEY] in dependencies or
// depends_on.
func (ck checker) checkKey(t dependency, owner *block, b *moduleBlock) hcl.Diagnostics {
	if t.ref.key == nil {
		return nil
	}
	return ck.checkRefs(t.ref.key, place{what: "the key of an instance", static: true, repeated: owner}, b, nil)
}
