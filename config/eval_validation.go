package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// validateVariables checks the validation blocks of a module's variables, of
// those that are known.
func (m *modules) validateVariables(mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(mod.block.variables)) {
		v := mod.block.variables[name]
		if value, ok := mod.vars[name]; !ok || !value.value.IsWhollyKnown() {
			continue
		}
		for _, check := range v.checks {
			diags = append(diags, m.validate(v, check, mod)...)
		}
	}
	return diags
}

func (m *modules) validate(v *variable, check hcl.Attributes, mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range []string{"condition", "error_message"} {
		if a := check[name]; a != nil {
			diags = append(diags, m.check.checkRefs(a.Expr, place{what: "this value", static: true}, mod.block, nil)...)
		}
	}
	if diags.HasErrors() {
		return diags
	}
	return m.evaluator(nil).validate(v, check, mod)
}

// validate checks one validation block, whose references have been checked.
func (e *evaluator) validate(v *variable, check hcl.Attributes, mod *module) hcl.Diagnostics {
	condition, message := check["condition"], check["error_message"]
	if condition == nil || message == nil {
		return nil // said when it was decoded
	}
	of := func(a *hcl.Attribute, want cty.Type) (cty.Value, hcl.Diagnostics) {
		got, diags := e.value(a.Expr, mod.site())
		if diags.HasErrors() {
			return cty.UnknownVal(want), diags
		}
		got, d := convertTo(got, want, a.Expr.Range(), "this value")
		return got, append(diags, d...)
	}
	ok, diags := of(condition, cty.Bool)
	if diags.HasErrors() || !ok.IsKnown() {
		return diags
	}
	text := cty.NilVal
	if plain, _ := ok.Unmark(); !plain.IsNull() && plain.False() {
		var d hcl.Diagnostics
		if text, d = of(message, cty.String); d.HasErrors() {
			return append(diags, d...)
		}
	}
	if d := v.verdict(condition.Expr, ok, text, mod); d != nil {
		d.EvalContext = e.context(condition.Expr, mod.site())
		diags = append(diags, d)
	}
	return diags
}

// validateLate checks the validation blocks of a module's variable that is made
// of resources, once it is known: in the evaluation that finds out.
func (e *evaluator) validateLate(v *variable, value cty.Value, mod *module) hcl.Diagnostics {
	key := memoKey{mod: mod, kind: kindValidation, name: v.name}
	if _, done := e.done[key]; done || len(v.checks) == 0 || !value.IsWhollyKnown() {
		return nil
	}
	e.done[key] = result{}
	var diags hcl.Diagnostics
	for _, check := range v.checks {
		diags = append(diags, e.validate(v, check, mod)...)
	}
	return diags
}

// verdict is what a validation says, nil for nothing.
func (v *variable) verdict(condition hcl.Expression, ok, text cty.Value, mod *module) *hcl.Diagnostic {
	if ok, _ = ok.Unmark(); ok.IsNull() {
		return failure(condition.Range(), "Invalid condition", "The condition of a validation is true or false, and this is null.")
	}
	if ok.True() || text == cty.NilVal || !text.IsKnown() {
		return nil
	}
	why := "(the message is sensitive)"
	if !text.IsMarked() && !text.IsNull() {
		why = text.AsString()
	}
	of := ""
	if mod.caller != nil {
		of = " of " + mod.address
	}
	e := failure(condition.Range(), "Invalid value of a variable", "%s\nThis was checked by the validation of the variable %q%s.", why, v.name, of)
	if mod.caller != nil {
		e.Detail += fmt.Sprintf(" The value is given at %s:%d.", mod.block.call.at.Filename, mod.block.call.at.Start.Line)
	}
	e.Expression = condition
	return e
}
