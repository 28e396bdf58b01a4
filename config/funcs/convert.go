package funcs

import (
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

// conversionFunctions convert between types, and try whether that goes.
func conversionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"can":      tryfunc.CanFunc,
		"tobool":   stdlib.MakeToFunc(cty.Bool),
		"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber": limitNumberText(stdlib.MakeToFunc(cty.Number)),
		"toset":    stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring": stdlib.MakeToFunc(cty.String),
		"try":      tryfunc.TryFunc,
	}
}

func limitNumberText(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if err := limits.CheckNumberText(textAt(args, 0)); err != nil {
			return function.NewArgError(0, err)
		}
		return nil
	})
}
