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
		"startswith":  startsWith(),
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

// startsWith returns startswith(), which needs only as much of an unknown text as is known of it.
func startsWith() function.Function {
	text := param("text", cty.String)
	text.AllowUnknown = true
	return define(cty.Bool, []function.Parameter{text, param("prefix", cty.String)}, func(args []cty.Value) (cty.Value, error) {
		prefix := args[1].AsString()
		if args[0].IsKnown() {
			return cty.BoolVal(strings.HasPrefix(args[0].AsString(), prefix)), nil
		}
		if begin := args[0].Range().StringPrefix(); len(begin) >= len(prefix) {
			return cty.BoolVal(strings.HasPrefix(begin, prefix)), nil
		}
		return cty.UnknownVal(cty.Bool), nil
	})
}
