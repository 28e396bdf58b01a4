package funcs

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/limits"
)

// maxTogether is how many times larger than one value all arguments of a call may be
// together.
const maxTogether = 4

// bounded limits the arguments of a function together, and its result.
func bounded(f function.Function) function.Function { return guarded(f, together) }

func together(args []cty.Value) error {
	text, elements := 0, 0
	for _, a := range args {
		switch {
		case !a.IsKnown() || a.IsNull():
		case a.Type() == cty.String:
			text += len(a.AsString())
		case a.CanIterateElements():
			elements += a.LengthInt()
		}
	}
	if text > maxTogether*limits.Text {
		return fmt.Errorf("the arguments have more than %d bytes of text together", maxTogether*limits.Text)
	}
	if elements > maxTogether*limits.Elements {
		return fmt.Errorf("the arguments have more than %d elements together", maxTogether*limits.Elements)
	}
	return nil
}

// guarded adds a check of the arguments before a function that could otherwise take all the
// memory or time, and a check of the result after it. check gets the arguments without
// marks, known (at least their first level) and not null; it runs before the function reads
// the arguments at all, because some functions read them to determine the result type. The
// function itself handles everything else, such as unknown, null or marked arguments.
func guarded(f function.Function, check func(args []cty.Value) error) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := checkKnown(args, check); err != nil {
				return cty.NilType, err
			}
			t, err := f.ReturnTypeForValues(args)
			return t, readable(err)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err != nil {
				return cty.NilVal, readable(err)
			}
			return v, limits.CheckValue(v)
		},
	}
	for _, p := range f.Params() {
		spec.Params = append(spec.Params, passedOn(p))
	}
	if p := f.VarParam(); p != nil {
		more := passedOn(*p)
		spec.VarParam = &more
	}
	return function.New(spec)
}

// readable removes the stack from the error of a function that panicked, as log does
// for a negative number.
func readable(err error) error {
	if p, ok := errors.AsType[function.PanicError](err); ok {
		return fmt.Errorf("there is no result for these arguments (%v)", p.Value)
	}
	return err
}

// passedOn returns a parameter that accepts every value of its type.
func passedOn(p function.Parameter) function.Parameter {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
	return p
}

func checkKnown(args []cty.Value, check func([]cty.Value) error) error {
	plain := make([]cty.Value, len(args))
	for i, a := range args {
		plain[i], _ = a.Unmark()
		if !plain[i].IsKnown() || plain[i].IsNull() {
			return nil
		}
	}
	return check(plain)
}

// number converts a number argument; a number beyond an int64 exceeds every limit here.
func number(v cty.Value) float64 {
	if v.Type() != cty.Number {
		return 0
	}
	n, _ := v.AsBigFloat().Float64()
	return n
}

// textAt returns a text argument of a call, "" if it is not text.
func textAt(args []cty.Value, i int) string {
	if i >= len(args) || args[i].Type() != cty.String {
		return ""
	}
	return args[i].AsString()
}

// anyParam returns a parameter that accepts any value, also unknown and null ones.
func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
		AllowMarked: true}
}

// define returns a function with a fixed result type.
func define(result cty.Type, params []function.Parameter, impl func(args []cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(result),
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}

func param(name string, t cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: t}
}

// onText returns a function from text to text.
func onText(f func(string) (string, error)) function.Function { return onTextAs("text", f) }

func onTextAs(name string, f func(string) (string, error)) function.Function {
	return define(cty.String, []function.Parameter{param(name, cty.String)}, func(args []cty.Value) (cty.Value, error) {
		s, err := f(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return cty.StringVal(s), nil
	})
}
