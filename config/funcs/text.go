package funcs

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// textFunctions transform and compare text.
func textFunctions() map[string]function.Function {
	return map[string]function.Function{
		"chomp":       stdlib.ChompFunc,
		"endswith":    onTexts("suffix", strings.HasSuffix),
		"lower":       stdlib.LowerFunc,
		"startswith":  onTexts("prefix", strings.HasPrefix),
		"strcontains": onTexts("substring", strings.Contains),
		"strrev":      stdlib.ReverseFunc,
		"substr":      stdlib.SubstrFunc,
		"title":       stdlib.TitleFunc,
		"trim":        stdlib.TrimFunc,
		"trimprefix":  stdlib.TrimPrefixFunc,
		"trimspace":   stdlib.TrimSpaceFunc,
		"trimsuffix":  stdlib.TrimSuffixFunc,
		"upper":       stdlib.UpperFunc,
	}
}

// onTexts returns a function that tests two texts.
func onTexts(second string, f func(a, b string) bool) function.Function {
	return define(cty.Bool, []function.Parameter{param("text", cty.String), param(second, cty.String)},
		func(args []cty.Value) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		})
}
