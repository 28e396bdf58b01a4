package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// oneZero returns a value with 0 in the place of each -0. They are equal, but differ in cty's
// hash, by which sets find equal elements.
func oneZero(v cty.Value) cty.Value {
	if !hasNumbers(v.Type()) {
		return v
	}
	found := false
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) { // it returns no error
		found = found || isNegativeZero(part)
		return !found, nil
	})
	if !found {
		return v
	}
	v, _ = cty.Transform(v, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if isNegativeZero(part) {
			return cty.Zero.WithSameMarks(part), nil
		}
		return part, nil
	})
	return v
}

func isNegativeZero(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.Type() != cty.Number || !v.IsKnown() || v.IsNull() {
		return false
	}
	n := v.AsBigFloat()
	return n.Sign() == 0 && n.Signbit()
}

// hasNumbers reports whether a value of the type may contain a number.
func hasNumbers(t cty.Type) bool {
	switch {
	case t == cty.Number || t == cty.DynamicPseudoType:
		return true
	case t.IsCollectionType():
		return hasNumbers(t.ElementType())
	case t.IsTupleType():
		for _, element := range t.TupleElementTypes() {
			if hasNumbers(element) {
				return true
			}
		}
	case t.IsObjectType():
		for _, attribute := range t.AttributeTypes() {
			if hasNumbers(attribute) {
				return true
			}
		}
	}
	return false
}

// onOneZero returns a function that takes -0 for 0 in all its arguments.
func onOneZero(f function.Function) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Type:        f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			plain := make([]cty.Value, len(args))
			for i, a := range args {
				plain[i] = oneZero(a)
			}
			return f.Call(plain)
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
