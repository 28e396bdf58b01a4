package funcs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/limits"
	"deployster/internal/base/words"
)

// A template may call every function except two kinds: templatefile and
// templatestring, so that templates cannot recurse or multiply, and the impure
// functions, whose results can be passed to it.

// templateFile returns templatefile(path, vars).
func templateFile(files Files, inner map[string]function.Function) function.Function {
	return templateFunction("path", cty.DynamicPseudoType, inner, func(path string) (text, name string, err error) {
		text, err = files.Text(path)
		return text, path, err
	})
}

// templateString returns templatestring(text, vars).
func templateString(inner map[string]function.Function) function.Function {
	return templateFunction("template", cty.String, inner, func(text string) (string, string, error) {
		return text, "template", nil
	})
}

// templateFunction returns a function that renders the text that source returns for
// its first argument.
func templateFunction(first string, result cty.Type, inner map[string]function.Function,
	source func(string) (text, name string, err error)) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		text, name, err := source(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return renderTemplate(text, name, args[1], inner)
	}
	vars := function.Parameter{Name: "vars", Type: cty.DynamicPseudoType}
	return guarded(function.New(&function.Spec{
		Params: []function.Parameter{param(first, cty.String), vars},
		Type: func(args []cty.Value) (cty.Type, error) {
			if result != cty.DynamicPseudoType || !args[0].IsKnown() || !args[1].IsKnown() {
				return result, nil
			}
			v, err := render(args) // the result of a template that is one expression may have any type
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, want cty.Type) (cty.Value, error) {
			v, err := render(args)
			if err != nil {
				return cty.NilVal, err
			}
			v, err = convert.Convert(v, want)
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "it does not give text, but %s", v.Type().FriendlyName())
			}
			return v, nil
		},
	}), together)
}

func renderTemplate(text, name string, vars cty.Value, inner map[string]function.Function) (cty.Value, error) {
	expr, err := parseTemplate(text, name)
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	if t := vars.Type(); !t.IsObjectType() && !t.IsMapType() {
		return cty.NilVal, function.NewArgErrorf(1, "it must be an object, { NAME = VALUE }")
	}
	ctx := &hcl.EvalContext{Variables: vars.AsValueMap(), Functions: inner}
	for given := range ctx.Variables {
		if !hclsyntax.ValidIdentifier(given) {
			return cty.NilVal, function.NewArgErrorf(1,
				"%q cannot be the name of a variable in a template: a name begins with a letter and has letters, digits, _ and - "+
					"only", given)
		}
	}
	types := typesIn(expr)
	for _, t := range expr.Variables() {
		if slices.ContainsFunc(types, t.SourceRange().Overlaps) {
			continue
		}
		if _, ok := ctx.Variables[t.RootName()]; !ok {
			return cty.NilVal, function.NewArgErrorf(1, "%s uses %q (line %d), which is not among them: %s", name, t.RootName(),
				t.SourceRange().Start.Line, words.ThereAre(slices.Collect(maps.Keys(ctx.Variables))))
		}
	}
	v, diags := limits.Evaluate(expr, ctx)
	if o, ok := limits.Overran(diags); ok {
		return cty.NilVal, limits.Overrun{Why: "in the template " + name + ", " + o.Why}
	}
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgErrorf(0, "%s", oneLine(diags))
	}
	if v.IsNull() {
		return cty.NilVal, function.NewArgErrorf(0, "the template %s returns null instead of text", name)
	}
	return v, limits.CheckValue(v)
}

// parseTemplate parses a template within the limits.
func parseTemplate(text, name string) (hclsyntax.Expression, error) {
	if d := limits.Native([]byte(text), name, true, hcl.InitialPos); d != nil {
		return nil, fmt.Errorf("%s:%d: %s", name, d.Subject.Start.Line, d.Detail)
	}
	expr, diags := hclsyntax.ParseTemplate([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s", oneLine(diags))
	}
	limits.Metered(expr)
	return expr, nil
}

// oneLine returns the first error of a template as text.
func oneLine(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			return fmt.Sprintf("%s:%d: %s: %s", d.Subject.Filename, d.Subject.Start.Line, d.Summary, strings.TrimSuffix(d.Detail, "."))
		}
	}
	return diags.Error()
}
