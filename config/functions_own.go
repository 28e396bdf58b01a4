package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// anyParam takes any value, also unknown and null ones.
func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
}

// define makes a function with a fixed result type.
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

// ownFunctions are those that Terraform's users know and that no library has,
// or has with another meaning.
func ownFunctions() map[string]function.Function {
	return map[string]function.Function{
		"alltrue":      truth(true),
		"anytrue":      truth(false),
		"coalesce":     coalesceFunction(),
		"index":        indexFunction(),
		"issensitive":  markFunction(func(v cty.Value) cty.Value { return cty.BoolVal(v.HasMark(sensitive{})) }, cty.Bool),
		"length":       lengthFunction(),
		"nonsensitive": markFunction(withoutMark, cty.NilType),
		"one":          oneFunction(),
		"sensitive":    markFunction(func(v cty.Value) cty.Value { return v.Mark(sensitive{}) }, cty.NilType),
		"sum":          sumFunction(),
	}
}

func withoutMark(v cty.Value) cty.Value {
	plain, marks := v.Unmark()
	for mark := range marks {
		if mark != (sensitive{}) && mark != (inState{}) {
			plain = plain.Mark(mark)
		}
	}
	return plain
}

// markFunction makes a function that looks at or changes marks; a NilType
// result is the argument's type.
func markFunction(f func(cty.Value) cty.Value, result cty.Type) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if result != cty.NilType {
				return result, nil
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f(args[0]), nil },
	})
}

// truth is alltrue for want = true, and anytrue for want = false.
func truth(want bool) function.Function {
	return define(cty.Bool, []function.Parameter{param("list", cty.List(cty.Bool))}, func(args []cty.Value) (cty.Value, error) {
		unknown := false
		for _, v := range args[0].AsValueSlice() {
			switch {
			case !v.IsKnown():
				unknown = true
			case !v.IsNull() && v.True() != want, v.IsNull() && want:
				return cty.BoolVal(!want), nil
			}
		}
		if unknown {
			return cty.UnknownVal(cty.Bool), nil
		}
		return cty.BoolVal(want), nil
	})
}

func coalesceFunction() function.Function {
	p := function.Parameter{Name: "values", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true}
	return function.New(&function.Spec{
		VarParam: &p,
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, a := range args {
				types[i] = a.Type()
			}
			t, _ := convert.UnifyUnsafe(types)
			if t == cty.NilType {
				return cty.NilType, fmt.Errorf("all arguments must have the same type")
			}
			return t, nil
		},
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			for _, a := range args {
				v, err := convert.Convert(a, t)
				switch {
				case err != nil:
					return cty.NilVal, err
				case !v.IsKnown():
					return cty.UnknownVal(t), nil
				case v.IsNull() || t == cty.String && v.AsString() == "":
					continue
				}
				return v, nil
			}
			return cty.NilVal, fmt.Errorf("all arguments are null or empty")
		},
	})
}

func indexFunction() function.Function {
	params := []function.Parameter{param("list", cty.DynamicPseudoType), param("value", cty.DynamicPseudoType)}
	return define(cty.Number, params, func(args []cty.Value) (cty.Value, error) {
		if t := args[0].Type(); !t.IsListType() && !t.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "it must be a list")
		}
		for i, v := range args[0].AsValueSlice() {
			eq, err := stdlib.Equal(v, args[1])
			if err != nil {
				return cty.NilVal, err
			}
			if !eq.IsKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if eq.True() {
				return cty.NumberIntVal(int64(i)), nil
			}
		}
		return cty.NilVal, fmt.Errorf("the value is not in the list")
	})
}

func lengthFunction() function.Function {
	p := function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true}
	return define(cty.Number, []function.Parameter{p}, func(args []cty.Value) (cty.Value, error) {
		v := args[0]
		switch t := v.Type(); {
		case t == cty.DynamicPseudoType:
			return cty.UnknownVal(cty.Number), nil
		case t == cty.String:
			return stdlib.Strlen(v)
		case t.IsTupleType():
			return cty.NumberIntVal(int64(len(t.TupleElementTypes()))), nil
		case t.IsObjectType():
			return cty.NumberIntVal(int64(len(t.AttributeTypes()))), nil
		case t.IsCollectionType():
			return v.Length(), nil
		}
		return cty.NilVal, function.NewArgErrorf(0, "it must be a text, a list, a set, a map or an object")
	})
}

func oneFunction() function.Function {
	p := function.Parameter{Name: "list", Type: cty.DynamicPseudoType, AllowDynamicType: true}
	return function.New(&function.Spec{
		Params: []function.Parameter{p},
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			t := args[0].Type()
			if !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
				return cty.NilVal, function.NewArgErrorf(0, "it must be a list or a set")
			}
			switch items := args[0].AsValueSlice(); len(items) {
			case 0:
				return cty.NullVal(cty.DynamicPseudoType), nil
			case 1:
				return items[0], nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "it must have no element or one")
		},
	})
}

func sumFunction() function.Function {
	return define(cty.Number, []function.Parameter{param("list", cty.DynamicPseudoType)}, func(args []cty.Value) (cty.Value, error) {
		list, err := convert.Convert(args[0], cty.List(cty.Number))
		if err != nil || list.IsNull() {
			return cty.NilVal, function.NewArgErrorf(0, "it must be a list or a set of numbers")
		}
		items := list.AsValueSlice()
		if len(items) == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "it is empty")
		}
		total := cty.Zero
		for _, v := range items {
			if v.IsKnown() && v.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "it has a null in it")
			}
			total = total.Add(v)
		}
		return total, nil
	})
}

// isRegexp says whether the second argument of replace is /a regular expression/.
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
