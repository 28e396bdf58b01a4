package funcs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

func regexFunctions() map[string]function.Function {
	return map[string]function.Function{
		"regex":    stdlib.RegexFunc,
		"regexall": limitRegexAll(stdlib.RegexAllFunc),
		"replace":  limitReplace(replaceFunction()),
	}
}

// limitRegexAll counts the matches before they become values, each of which takes a
// hundred times the memory.
func limitRegexAll(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		re, err := regexp.Compile(textAt(args, 0))
		if err != nil {
			return nil // the function itself reports it
		}
		most := limits.Elements / (re.NumSubexp() + 1)
		if len(re.FindAllStringIndex(textAt(args, 1), most+1)) > most {
			return fmt.Errorf("there are more than %d matches", most)
		}
		return nil
	})
}

// isRegexp reports whether the second argument of replace has the form /REGULAR EXPRESSION/.
func isRegexp(s string) bool {
	return len(s) > 1 && strings.HasPrefix(s, "/") && strings.HasSuffix(s, "/")
}

func replaceFunction() function.Function {
	params := []function.Parameter{param("text", cty.String), param("old", cty.String), param("new", cty.String)}
	return define(cty.String, params, func(args []cty.Value) (cty.Value, error) {
		text, old, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
		if !isRegexp(old) {
			return cty.StringVal(strings.ReplaceAll(text, old, with)), nil
		}
		re, err := regexp.Compile(old[1 : len(old)-1])
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		return cty.StringVal(re.ReplaceAllString(text, with)), nil
	})
}

// limitReplace limits the result of a replacement: each byte of the text may be a
// place where the replacement is inserted.
func limitReplace(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		text, old, with := textAt(args, 0), textAt(args, 1), textAt(args, 2)
		if !isRegexp(old) {
			if n := strings.Count(text, old); len(with) > 0 && n > limits.Text/len(with) {
				return fmt.Errorf("the result could have more than %d bytes", limits.Text)
			}
			return nil
		}
		re, err := regexp.Compile(old[1 : len(old)-1])
		if err != nil {
			return nil // the function itself reports it
		}
		// Each $1 in the replacement may insert the whole match.
		grown, groups := 0, strings.Count(with, "$")
		most := limits.Elements * 10
		places := re.FindAllStringIndex(text, most+1)
		if len(places) > most {
			return fmt.Errorf("there are more than %d matches", most)
		}
		for _, at := range places {
			if grown += len(with) + groups*(at[1]-at[0]); grown > limits.Text {
				return fmt.Errorf("the result could have more than %d bytes", limits.Text)
			}
		}
		return nil
	})
}
