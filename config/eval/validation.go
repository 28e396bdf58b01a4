package eval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/values"
)

// ValidateVariables checks the validation blocks of a module's variables whose values
// are known.
func (m *Modules) ValidateVariables(mod *instance.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(mod.Decl.Variables)) {
		v := mod.Decl.Variables[name]
		if value, ok := mod.Vars[name]; !ok || !value.Value.IsWhollyKnown() {
			continue
		}
		for _, check := range v.Checks {
			diags = append(diags, m.validate(v, check, mod)...)
		}
	}
	return diags
}

func (m *Modules) validate(v *decl.Variable, check hcl.Attributes, mod *instance.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range []string{"condition", "error_message"} {
		if a := check[name]; a != nil {
			diags = append(diags, m.Checker.CheckRefs(a.Expr, decl.Usage{What: "this value", Static: true}, mod.Decl)...)
		}
	}
	if diags.HasErrors() {
		return diags
	}
	return m.Evaluator(nil).validate(v, check, mod)
}

// validate checks one validation block, whose references have been checked.
func (e *Evaluator) validate(v *decl.Variable, check hcl.Attributes, mod *instance.Module) hcl.Diagnostics {
	condition, message := check["condition"], check["error_message"]
	if condition == nil || message == nil {
		return nil // reported when it was decoded
	}
	of := func(a *hcl.Attribute, want cty.Type) (cty.Value, hcl.Diagnostics) {
		got, diags := e.Value(a.Expr, mod.Scope())
		if diags.HasErrors() {
			return cty.UnknownVal(want), diags
		}
		got, d := ConvertTo(got, want, a.Expr.Range(), "this value")
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
	if d := verdictOf(v, condition.Expr, ok, text, mod); d != nil {
		d.EvalContext = e.Context(condition.Expr, mod.Scope())
		diags = append(diags, d)
	}
	return diags
}

// validateLate checks the validation blocks of a module's variable whose value
// depends on resources, in the evaluation in which the value becomes known.
func (e *Evaluator) validateLate(v *decl.Variable, value cty.Value, mod *instance.Module) hcl.Diagnostics {
	key := MemoKey{Mod: mod, Kind: kindValidation, Name: v.Name}
	if _, done := e.done[key]; done || len(v.Checks) == 0 || !value.IsWhollyKnown() {
		return nil
	}
	put(&e.done, key, result{})
	var diags hcl.Diagnostics
	for _, check := range v.Checks {
		diags = append(diags, e.validate(v, check, mod)...)
	}
	return diags
}

// verdictOf returns the error of a validation, nil for none.
func verdictOf(v *decl.Variable, condition hcl.Expression, ok, text cty.Value, mod *instance.Module) *hcl.Diagnostic {
	if ok, _ = ok.Unmark(); ok.IsNull() {
		return source.Failure(condition.Range(), "Invalid condition", "The condition of a validation is true or false, and this is null.")
	}
	if ok.True() || text == cty.NilVal || !text.IsKnown() {
		return nil
	}
	why := "(the message is sensitive)"
	if plain, _ := text.Unmark(); plain.IsNull() {
		why = "(Its error_message is null.)"
	} else if !text.HasMark(values.Sensitive{}) {
		why = plain.AsString()
	}
	of := ""
	if mod.Caller != nil {
		of = " of " + mod.Address
	}
	e := source.Failure(condition.Range(), "Invalid value of a variable", "%s\nThis was checked by the validation of the variable %q%s.",
		why, v.Name, of)
	if mod.Caller != nil {
		e.Detail += fmt.Sprintf(" The value is given at %s:%d.", mod.Decl.Call.At.Filename, mod.Decl.Call.At.Start.Line)
	}
	e.Expression = condition
	return e
}
