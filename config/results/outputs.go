package results

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/values"
)

// Outputs evaluates the outputs of the root, sorted by name, and the conditions of
// the outputs and variables of all modules.
func Outputs(e *eval.Evaluator) (out []instance.Output, diags hcl.Diagnostics) {
	top := e.M.Top
	for _, name := range slices.Sorted(maps.Keys(top.Decl.Outputs)) {
		o, _, d := Output(e, top.Decl.Outputs[name], top)
		out, diags = append(out, o), append(diags, d...)
	}
	for i := range out {
		open, d := JudgeList(e, top.Decl.Outputs[out[i].Name].Before, top.Scope())
		out[i].Open, diags = open, append(diags, d...)
	}
	top.Each(func(mod *instance.Module) {
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Variables)) {
			if v := mod.Decl.Variables[name]; v.NeedsState && len(v.Checks) > 0 {
				_, d := e.Variable(name, mod)
				diags = append(diags, d...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Outputs)) {
			if mod != top {
				_, d := JudgeList(e, mod.Decl.Outputs[name].Before, mod.Scope())
				diags = append(diags, d...)
			}
		}
	})
	return out, diags
}

// Output evaluates one output.
func Output(e *eval.Evaluator, b *decl.Block, mod *instance.Module) (instance.Output, cty.Value, hcl.Diagnostics) {
	o := instance.Output{Name: b.Name}
	var diags hcl.Diagnostics
	flag, d := e.M.Optional(b.Attrs["sensitive"], cty.Bool, "the attribute sensitive of an output", mod.Scope())
	diags = append(diags, d...)
	o.Sensitive = flag != cty.NilVal && flag.True()
	flag, d = e.M.Optional(b.Attrs["export"], cty.Bool, "the attribute export of an output", mod.Scope())
	diags = append(diags, d...)
	o.Export = flag != cty.NilVal && flag.True()
	_, d = e.M.Optional(b.Attrs["description"], cty.String, "the description of an output", mod.Scope()) // only for readers
	diags = append(diags, d...)
	a := b.Attrs["value"]
	if a == nil {
		return o, cty.DynamicVal, diags
	}
	value, d := e.Value(a.Expr, mod.Scope())
	if diags = append(diags, d...); !diags.HasErrors() {
		value, d = b.Convert(value, a.Expr.Range())
		diags = append(diags, d...)
	}
	if diags.HasErrors() {
		return o, value, diags
	}
	hidden, written := values.Sensitivity(value)
	if written && !o.Sensitive && mod.Caller == nil { // the value of a module's output is not printed, and keeps its mark
		return o, value, append(diags, source.Failure(a.Expr.Range(), "A sensitive value would be printed",
			"The value of the output %q is computed from a sensitive one. Add sensitive = true to the output to keep it hidden, or take "+
				"the sensitive part out with nonsensitive() if it may be seen.", b.Name))
	}
	o.Sensitive = o.Sensitive || hidden
	o.Resolved, d = resolve(e, a.Expr, mod.Scope(), value)
	if o.Sensitive && len(o.Resolved.Sensitive) == 0 {
		o.Resolved.Sensitive = []string{""}
	}
	return o, value, append(diags, d...)
}
