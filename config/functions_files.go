package config

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// fileFunctions read files below the manifest's directory.
func fileFunctions(r *reader) map[string]function.Function {
	path := []function.Parameter{param("path", cty.String)}
	all := map[string]function.Function{
		"file": onTextAs("path", r.text),
		"filebase64": onTextAs("path", func(p string) (string, error) {
			data, err := r.read(p)
			return base64.StdEncoding.EncodeToString(data), err
		}),
		"fileexists": define(cty.Bool, path, func(args []cty.Value) (cty.Value, error) {
			found, err := r.exists(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.BoolVal(found), nil
		}),
	}
	for _, d := range digests() {
		all["file"+d.name] = onTextAs("path", func(p string) (string, error) {
			data, err := r.read(p)
			return hex.EncodeToString(d.sum(data)), err
		})
	}
	return all
}

// templateFunction is templatefile(path, vars). A template may call every other
// function; not templatefile, so that templates cannot run in circles.
func templateFunction(r *reader, inner map[string]function.Function) function.Function {
	vars := function.Parameter{Name: "vars", Type: cty.DynamicPseudoType}
	render := func(args []cty.Value) (cty.Value, error) {
		expr, err := template(r, args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if t := args[1].Type(); !t.IsObjectType() && !t.IsMapType() {
			return cty.NilVal, function.NewArgErrorf(1, "it must be an object, { NAME = VALUE }")
		}
		ctx := &hcl.EvalContext{Variables: args[1].AsValueMap(), Functions: inner}
		for _, t := range expr.Variables() {
			if _, ok := ctx.Variables[t.RootName()]; !ok {
				return cty.NilVal, function.NewArgErrorf(1, "the template %s uses %q (line %d), which is not among them:%s %s", args[0].AsString(), t.RootName(),
					t.SourceRange().Start.Line, suggest(t.RootName(), sortedKeys(ctx.Variables)), oneOf(sortedKeys(ctx.Variables)))
			}
		}
		v, diags := expr.Value(ctx)
		if diags.HasErrors() {
			return cty.NilVal, function.NewArgErrorf(0, "%s", oneLine(diags))
		}
		return v, checkValue(v)
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{param("path", cty.String), vars},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsWhollyKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := render(args)
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
			return convert.Convert(v, want)
		},
	})
}

// template parses a template file that is fit to be parsed.
func template(r *reader, path string) (hclsyntax.Expression, error) {
	text, err := r.text(path)
	if err != nil {
		return nil, err
	}
	if d := scanNative([]byte(text), path, true, hcl.InitialPos); d != nil {
		return nil, fmt.Errorf("%s:%d: %s", path, d.Subject.Start.Line, d.Detail)
	}
	expr, diags := hclsyntax.ParseTemplate([]byte(text), path, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s", oneLine(diags))
	}
	return expr, nil
}

// oneLine writes the first error of a template as text.
func oneLine(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			return fmt.Sprintf("%s:%d: %s: %s", d.Subject.Filename, d.Subject.Start.Line, d.Summary, d.Detail)
		}
	}
	return diags.Error()
}
