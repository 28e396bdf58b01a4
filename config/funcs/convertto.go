package funcs

import (
	"errors"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// Convert is the name of the function whose second argument is a type, which refers to nothing.
const Convert = "convert"

// ReadType reads a type as manifests write it. As in Terraform, list and map alone are list(any)
// and map(any).
func ReadType(expr hcl.Expression) (cty.Type, *typeexpr.Defaults, hcl.Diagnostics) {
	switch hcl.ExprAsKeyword(expr) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil, nil
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil, nil
	}
	return typeexpr.TypeConstraintWithDefaults(expr)
}

// As converts a value to a type, with the defaults of its optional attributes.
func As(v cty.Value, typ cty.Type, defaults *typeexpr.Defaults) (cty.Value, error) {
	if defaults != nil {
		v = defaults.Apply(v)
	}
	if typ.IsSetType() {
		v = oneZero(v)
	}
	return convert.Convert(v, typ)
}

// convertFunction converts a value to any type of the language.
func convertFunction() function.Function {
	read := func(args []cty.Value) (cty.Value, error) {
		closure := customdecode.ExpressionClosureFromVal(args[1])
		typ, defaults, diags := ReadType(closure.Expression)
		if diags.HasErrors() {
			return cty.NilVal, function.NewArgError(1, errors.New(strings.TrimSuffix(diags[0].Detail, ".")))
		}
		v, err := As(args[0], typ, defaults)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return v, nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value"), {Name: "type", Type: customdecode.ExpressionClosureType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := read(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return read(args) },
	})
}

// typesIn returns where a template has types, whose names are not variables.
func typesIn(expr hclsyntax.Expression) (types []hcl.Range) {
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && call.Name == Convert && len(call.Args) == 2 {
			types = append(types, call.Args[1].Range())
		}
		return nil
	})
	return types
}
