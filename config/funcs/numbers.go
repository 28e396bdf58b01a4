package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

func numberFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":      stdlib.AbsoluteFunc,
		"ceil":     stdlib.CeilFunc,
		"floor":    stdlib.FloorFunc,
		"log":      stdlib.LogFunc,
		"max":      stdlib.MaxFunc,
		"min":      stdlib.MinFunc,
		"parseint": limitParseInt(stdlib.ParseIntFunc),
		"pow":      limitPow(stdlib.PowFunc),
		"signum":   stdlib.SignumFunc,
		"sum":      sumFunction(),
	}
}

func limitPow(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if n := number(args[1]); n > limits.Exponent || n < -limits.Exponent {
			return function.NewArgErrorf(1, "the exponent must be from -%d to %d", limits.Exponent, limits.Exponent)
		}
		return nil
	})
}

// maxDigits is how many digits parseint accepts: more than any number may have.
const maxDigits = 16384

func limitParseInt(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if args[0].Type() == cty.String && len(args[0].AsString()) > maxDigits {
			return function.NewArgErrorf(0, "it must not have more than %d digits", maxDigits)
		}
		return nil
	})
}

func sumFunction() function.Function {
	return define(cty.Number, []function.Parameter{param("list", cty.DynamicPseudoType)}, func(args []cty.Value) (cty.Value, error) {
		if !args[0].CanIterateElements() || args[0].Type().IsMapType() || args[0].Type().IsObjectType() {
			return cty.NilVal, function.NewArgErrorf(0, "it must be a list, a set or a tuple of numbers")
		}
		items := args[0].AsValueSlice()
		if len(items) == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "it is empty")
		}
		total := cty.Zero
		for _, v := range items {
			n, err := convert.Convert(v, cty.Number)
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(0, "it must be a list, a set or a tuple of numbers")
			}
			if n.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "it has a null in it")
			}
			total = total.Add(n)
		}
		return total, nil
	})
}
