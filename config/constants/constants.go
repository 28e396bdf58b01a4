package constants

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// Known is what is known before any module is read.
type Known struct {
	Values    map[string]cty.Value // of the constants; unknown = it has no valid value
	Variables map[string]hcl.Range // the declared variables of the root manifest, and where
	InModule  bool                 // the expression is in a module, which has no constants
	Functions map[string]function.Function
}

// notConstant is the summary of errors about what is not known early enough.
const notConstant = "Not a constant"

// Text returns the text of an expression in which only constants stand.
func (k Known) Text(expr hcl.Expression) (string, *hcl.Diagnostic) {
	vars := map[string]cty.Value{}
	for _, ref := range expr.Variables() {
		value, problem := k.value(ref)
		if problem != nil {
			return "", problem
		}
		vars[refs.StepName(ref, 1)] = value
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(vars)}, Functions: k.Functions}
	value, diags := expr.Value(ctx)
	if diags.HasErrors() {
		return "", diags[0]
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil || text.IsMarked() || !text.IsKnown() || text.IsNull() {
		return "", source.Failure(expr.Range(), notConstant, "The source of a module must be a text that is known before anything is "+
			"evaluated.")
	}
	return text.AsString(), nil
}

// value returns the value of a constant.
func (k Known) value(ref hcl.Traversal) (cty.Value, *hcl.Diagnostic) {
	name, at := refs.StepName(ref, 1), ref.SourceRange()
	declared, is := k.Variables[name]
	value, constant := k.Values[name]
	var problem *hcl.Diagnostic
	switch {
	case k.InModule:
		problem = source.Failure(at, notConstant, "%s cannot be used in the source of a module that is called by a module: it must be a "+
			"text constant in quotes. Only variables of the root manifest can be constants.", refs.TraversalString(ref))
	case ref.RootName() != "var" || name == "":
		problem = source.Failure(at, notConstant, "%s cannot be used in the source of a module, which is read before anything is "+
			"evaluated: it must be a text constant in quotes, with nothing in it but variables that have const = true.",
			refs.TraversalString(ref))
	case !is:
		problem = source.Failure(at, "Unknown name", "The variable %q is not declared.%s Declare it with const = true, or correct the "+
			"name.", name, words.DidYouMean(name, slices.Sorted(maps.Keys(k.Variables))))
	case !constant:
		problem = source.Failure(at, notConstant, "The variable %q is not known yet when the source of a module is read. Write "+
			"const = true in its block (%s:%d).", name, declared.Filename, declared.Start.Line)
	case !value.IsWhollyKnown():
		problem = source.Failure(at, "A module without source", "The variable %q has no valid value: give it with -var '%s=VALUE', or "+
			"write it into vars.auto.hcl.", name, name)
	}
	return value, problem
}
