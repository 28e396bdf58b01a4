package funcs

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"deployster/config/limits"
)

// collectionFunctions build collections from collections.
func collectionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"chunklist":    stdlib.ChunklistFunc,
		"coalescelist": stdlib.CoalesceListFunc,
		"compact":      stdlib.CompactFunc,
		"concat":       bounded(stdlib.ConcatFunc),
		"distinct":     distinctFunction(),
		"flatten":      stdlib.FlattenFunc,
		"keys":         stdlib.KeysFunc,
		"matchkeys":    matchkeysFunction(),
		"merge":        bounded(stdlib.MergeFunc),
		"range":        stdlib.RangeFunc,
		"reverse":      stdlib.ReverseListFunc,
		"slice":        stdlib.SliceFunc,
		"sort":         stdlib.SortFunc,
		"transpose":    transposeFunction(),
		"values":       stdlib.ValuesFunc,
		"zipmap":       stdlib.ZipmapFunc,
	}
}

func setFunctions() map[string]function.Function {
	return map[string]function.Function{
		"setintersection":        onOneZero(stdlib.SetIntersectionFunc),
		"setproduct":             limitProduct(onOneZero(stdlib.SetProductFunc)),
		"setsubtract":            onOneZero(stdlib.SetSubtractFunc),
		"setsymmetricdifference": onOneZero(stdlib.SetSymmetricDifferenceFunc),
		"setunion":               onOneZero(stdlib.SetUnionFunc),
	}
}

func limitProduct(f function.Function) function.Function {
	return guarded(f, func(args []cty.Value) error {
		product := len(args)
		for _, a := range args {
			if !a.CanIterateElements() {
				return nil
			}
			if product *= a.LengthInt(); product > limits.Elements {
				return fmt.Errorf("the product has more than %d elements", limits.Elements)
			}
		}
		return nil
	})
}

// distinctFunction returns distinct(), which keeps the first of equal elements. It compares
// elements by their hash: comparing each with all others takes minutes for a long list.
func distinctFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.List(cty.DynamicPseudoType))},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(t), nil
			}
			seen := map[int][]cty.Value{}
			var out []cty.Value
			for _, v := range args[0].AsValueSlice() {
				h := oneZero(v).Hash()
				if !contains(seen[h], v) {
					seen[h], out = append(seen[h], v), append(out, v)
				}
			}
			if len(out) == 0 {
				return cty.ListValEmpty(t.ElementType()), nil
			}
			return cty.ListVal(out), nil
		},
	})
}

// contains reports whether values has an element equal to v.
func contains(values []cty.Value, v cty.Value) bool {
	for _, w := range values {
		if w.RawEquals(v) {
			return true
		}
	}
	return false
}

// matchkeysFunction returns matchkeys(), which selects the values whose key is in searchset.
func matchkeysFunction() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Params: []function.Parameter{param("values", list), param("keys", list), param("searchset", list)},
		Type: func(args []cty.Value) (cty.Type, error) {
			if t, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); t == cty.NilType {
				return cty.NilType, fmt.Errorf("the keys and the searched values must be of one type")
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
			values := args[0].AsValueSlice()
			if len(values) != args[1].LengthInt() {
				return cty.NilVal, fmt.Errorf("there must be as many keys as values")
			}
			if !args[0].IsWhollyKnown() || !args[1].IsWhollyKnown() || !args[2].IsWhollyKnown() {
				return cty.UnknownVal(cty.List(t.ElementType())), nil
			}
			both, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
			keys, err := convert.Convert(args[1], both)
			if err != nil {
				return cty.NilVal, err
			}
			search, err := convert.Convert(args[2], both)
			if err != nil {
				return cty.NilVal, err
			}
			wanted := map[int][]cty.Value{}
			for _, v := range search.AsValueSlice() {
				h := oneZero(v).Hash()
				wanted[h] = append(wanted[h], v)
			}
			var out []cty.Value
			for i, k := range keys.AsValueSlice() {
				if contains(wanted[oneZero(k).Hash()], k) {
					out = append(out, values[i])
				}
			}
			if len(out) == 0 {
				return cty.ListValEmpty(t.ElementType()), nil
			}
			return cty.ListVal(out), nil
		},
	})
}

// transposeFunction returns transpose(), which turns { key = [value] } into the map { value = [key] }.
func transposeFunction() function.Function {
	t := cty.Map(cty.List(cty.String))
	return define(t, []function.Parameter{param("values", t)}, func(args []cty.Value) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(t), nil
		}
		keys := map[string][]cty.Value{}
		for it := args[0].ElementIterator(); it.Next(); {
			key, list := it.Element()
			if list.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "the list of %q is null", key.AsString())
			}
			for _, v := range list.AsValueSlice() {
				if v.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "the list of %q has a null in it", key.AsString())
				}
				keys[v.AsString()] = append(keys[v.AsString()], key)
			}
		}
		out := map[string]cty.Value{}
		for value, list := range keys {
			out[value] = cty.ListVal(list) // the iteration is in the order of the keys
		}
		if len(out) == 0 {
			return cty.MapValEmpty(cty.List(cty.String)), nil
		}
		return cty.MapVal(out), nil
	})
}
