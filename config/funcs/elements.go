package funcs

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// elementFunctions select one element of a collection, or one of their arguments.
func elementFunctions() map[string]function.Function {
	return map[string]function.Function{
		"coalesce": coalesceFunction(),
		"contains": containsFunction(),
		"element":  stdlib.ElementFunc,
		"index":    indexFunction(),
		"length":   lengthFunction(),
		"lookup":   lookupFunction(),
		"one":      oneFunction(),
	}
}

// truthFunctions report whether all or any of the elements are true.
func truthFunctions() map[string]function.Function {
	return map[string]function.Function{"alltrue": truth(true), "anytrue": truth(false)}
}

// truth returns alltrue for want = true, and anytrue for want = false.
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
	p := function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
	return define(cty.Number, []function.Parameter{p}, func(args []cty.Value) (cty.Value, error) {
		v, marks := args[0].Unmark() // marks inside do not affect the length
		n, err := lengthOf(v)
		if err != nil {
			return cty.NilVal, err
		}
		return n.WithMarks(marks), nil
	})
}

func lengthOf(v cty.Value) (cty.Value, error) {
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
}

// lookupFunction returns lookup(), which reads a key of a map or an object, with a
// default for a missing key.
func lookupFunction() function.Function {
	other := function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true,
		AllowMarked: true}
	key := param("key", cty.String)
	key.AllowMarked, key.AllowUnknown = true, true // otherwise an unknown argument would lose its marks
	from := function.Parameter{Name: "map", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
	return function.New(&function.Spec{
		Params:   []function.Parameter{from, key},
		VarParam: &other,
		Type:     lookupType,
		Impl:     lookup,
	})
}

func lookupType(args []cty.Value) (cty.Type, error) {
	if len(args) > 3 {
		return cty.NilType, fmt.Errorf("lookup takes two or three arguments, and not %d", len(args))
	}
	switch t := args[0].Type(); {
	case t.IsObjectType():
		key, _ := args[1].Unmark()
		if !key.IsKnown() {
			return cty.DynamicPseudoType, nil
		}
		if t.HasAttribute(key.AsString()) {
			return t.AttributeType(key.AsString()), nil
		}
		if len(args) == 3 {
			return args[2].Type(), nil
		}
		return cty.DynamicPseudoType, nil
	case t.IsMapType():
		if len(args) == 3 {
			if _, err := convert.Convert(args[2], t.ElementType()); err != nil {
				return cty.NilType, function.NewArgErrorf(2, "the default must be of the type of the elements")
			}
		}
		return t.ElementType(), nil
	case t == cty.DynamicPseudoType:
		return t, nil
	}
	return cty.NilType, function.NewArgErrorf(0, "it must be a map or an object")
}

func lookup(args []cty.Value, t cty.Type) (cty.Value, error) {
	from, fromMarks := args[0].Unmark()
	key, keyMarks := args[1].Unmark()
	if !from.IsKnown() || !key.IsKnown() {
		return cty.UnknownVal(t).WithMarks(fromMarks, keyMarks), nil
	}
	name := key.AsString()
	switch {
	case from.Type().IsObjectType() && from.Type().HasAttribute(name):
		return from.GetAttr(name).WithMarks(fromMarks, keyMarks), nil
	case from.Type().IsMapType() && from.HasIndex(key).True():
		return from.Index(key).WithMarks(fromMarks, keyMarks), nil
	case len(args) == 3:
		v, err := convert.Convert(args[2], t)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(2, "the default must be of the type of the elements")
		}
		return v.WithMarks(fromMarks, keyMarks), nil
	}
	return cty.UnknownVal(cty.DynamicPseudoType), fmt.Errorf("there is no key %q, and no default is given", name)
}

func oneFunction() function.Function {
	p := function.Parameter{Name: "list", Type: cty.DynamicPseudoType, AllowDynamicType: true}
	return function.New(&function.Spec{
		Params: []function.Parameter{p},
		Type: func(args []cty.Value) (cty.Type, error) {
			if t := args[0].Type(); t.IsListType() || t.IsSetType() {
				return t.ElementType(), nil
			}
			return cty.DynamicPseudoType, nil
		},
		Impl: func(args []cty.Value, result cty.Type) (cty.Value, error) {
			t := args[0].Type()
			if !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
				return cty.NilVal, function.NewArgErrorf(0, "it must be a list or a set")
			}
			switch items := args[0].AsValueSlice(); len(items) {
			case 0:
				return cty.NullVal(result), nil
			case 1:
				return items[0], nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "it must have no element or one")
		},
	})
}

// containsFunction is the library's function, except that a null can be searched for: for
// one without a type, the library's result would always be unknown.
func containsFunction() function.Function {
	f := stdlib.ContainsFunc
	list, value := passedOn(f.Params()[0]), passedOn(f.Params()[1])
	return function.New(&function.Spec{
		Params: []function.Parameter{list, value},
		Type:   f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			in, inMarks := args[0].Unmark()
			what, marks := args[1].Unmark()
			if !what.IsNull() || !in.IsKnown() || in.IsNull() || !in.CanIterateElements() {
				return f.Call(args)
			}
			found := cty.False
			for it := in.ElementIterator(); it.Next(); {
				if _, v := it.Element(); !v.IsKnown() {
					found = cty.UnknownVal(cty.Bool)
				} else if v.IsNull() {
					return cty.True.WithMarks(inMarks, marks), nil
				}
			}
			return found.WithMarks(inMarks, marks), nil
		},
	})
}
