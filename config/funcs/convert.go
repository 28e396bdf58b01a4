package funcs

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

// conversionFunctions convert between types, and test whether an expression is valid.
func conversionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"can":      tryfunc.CanFunc,
		Convert:    limitNumberText(convertFunction()),
		"tobool":   stdlib.MakeToFunc(cty.Bool),
		"tolist":   collectionOf(cty.List(cty.DynamicPseudoType)),
		"tomap":    collectionOf(cty.Map(cty.DynamicPseudoType)),
		"tonumber": limitNumberText(stdlib.MakeToFunc(cty.Number)),
		"toset":    collectionOf(cty.Set(cty.DynamicPseudoType)),
		"tostring": stdlib.MakeToFunc(cty.String),
		"try":      tryfunc.TryFunc,
	}
}

// collectionOf converts as cty's function does, but keeps the marks on the elements
// that have them: a sensitive element does not make the keys sensitive.
func collectionOf(want cty.Type) function.Function {
	plain := stdlib.MakeToFunc(want)
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("v")}, // unknown ones too, which would otherwise lose their marks
		Type: func(args []cty.Value) (cty.Type, error) {
			v, _ := args[0].UnmarkDeep()
			got, err := plain.Call([]cty.Value{v})
			if err != nil {
				return cty.NilType, err
			}
			return got.Type(), nil
		},
		Impl: func(args []cty.Value, got cty.Type) (cty.Value, error) {
			if got.IsSetType() {
				args[0] = oneZero(args[0])
			}
			return convert.Convert(args[0], got)
		},
	})
}

func limitNumberText(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if err := limits.CheckNumberText(textAt(args, 0)); err != nil {
			return function.NewArgError(0, err)
		}
		return nil
	})
}
