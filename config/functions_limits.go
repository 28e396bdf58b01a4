package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// guarded puts a check of the arguments before a function that could otherwise
// take all the memory or time. The check gets unmarked arguments, all known and
// not null, and runs before the function looks at them at all: some read their
// arguments to tell the type of the result.
func guarded(f function.Function, check func(args []cty.Value) error) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			plain := make([]cty.Value, len(args))
			for i, a := range args {
				plain[i], _ = a.UnmarkDeep()
				if !plain[i].IsWhollyKnown() || plain[i].IsNull() {
					return f.ReturnTypeForValues(args)
				}
			}
			if err := check(plain); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err != nil {
				return cty.NilVal, err
			}
			return v, checkValue(v)
		},
	})
}

// checked checks no more than the result of a function.
func checked(f function.Function) function.Function {
	return guarded(f, func([]cty.Value) error { return nil })
}

// number reads a number argument; what does not fit an int64 is beyond any
// limit here.
func number(v cty.Value) float64 {
	if v.Type() != cty.Number {
		return 0
	}
	n, _ := v.AsBigFloat().Float64()
	return n
}

// limitNumber bounds one number argument.
func limitNumber(f function.Function, arg int, limit float64) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if n := number(args[arg]); n > limit {
			return function.NewArgErrorf(arg, "it must not be greater than %g", limit)
		}
		return nil
	})
}

func limitPow(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if n := number(args[1]); n > maxExponent || n < -maxExponent {
			return function.NewArgErrorf(1, "the exponent must be from -%d to %d", maxExponent, maxExponent)
		}
		return nil
	})
}

func limitProduct(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		product := 1
		for _, a := range args {
			if !a.CanIterateElements() {
				return nil
			}
			if product *= a.LengthInt(); product > maxElements {
				return fmt.Errorf("the product has more than %d elements", maxElements)
			}
		}
		return nil
	})
}

// limitReplace bounds what a replacement makes of a text: each byte of it may
// be a place where the replacement is put in.
func limitReplace(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		text, old, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
		places := len(text) + 1
		if !isRegexp(old) {
			places = strings.Count(text, old)
		}
		if len(with) > 0 && places > maxStringSize/len(with) {
			return fmt.Errorf("the result could have more than %d bytes", maxStringSize)
		}
		return nil
	})
}

// wideVerb finds a verb with a width or a precision of five digits or more, or
// one that is given as an argument.
var wideVerb = regexp.MustCompile(`%[-+ #0]*(\*|\d{5,}|\d*\.(\*|\d{5,}))`)

func limitFormat(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if args[0].Type() != cty.String {
			return nil
		}
		if verb := wideVerb.FindString(args[0].AsString()); verb != "" {
			return function.NewArgErrorf(0, "the width in %q is too large: the limit is 9999", verb)
		}
		return nil
	})
}

// limitJSON bounds the nesting and the numbers of a document before a recursive
// decoder sees it.
func limitJSON(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if d := scanJSON([]byte(args[0].AsString()), ""); d != nil {
			return function.NewArgErrorf(0, "%s", d.Detail)
		}
		return nil
	})
}

func limitYAML(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		if err := scanYAML(args[0].AsString()); err != nil {
			return function.NewArgError(0, err)
		}
		return nil
	})
}
