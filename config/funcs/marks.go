package funcs

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Sensitive is the mark of values that must never be printed.
type Sensitive struct{}

// FromState is a second mark of values that a state makes sensitive: unlike for a
// sensitive variable, nothing in the manifest shows this.
type FromState struct{}

// MayChange is the mark of values that are expected to stay, but may change before
// they are needed.
type MayChange struct{}

func markFunctions() map[string]function.Function {
	return map[string]function.Function{
		"ephemeralasnull": onMarked(cty.NilType, func(v cty.Value) cty.Value { return v }),
		"issensitive":     issensitiveFunction(),
		"nonsensitive":    onMarked(cty.NilType, withoutSensitive),
		"sensitive":       onMarked(cty.NilType, func(v cty.Value) cty.Value { return v.Mark(Sensitive{}) }),
	}
}

func withoutSensitive(v cty.Value) cty.Value {
	plain, marks := v.Unmark()
	for mark := range marks {
		if mark != (Sensitive{}) && mark != (FromState{}) {
			plain = plain.Mark(mark)
		}
	}
	return plain
}

// issensitiveFunction returns a known result for an unknown value only if it is
// marked: a mark stays, but a missing one may still be added.
func issensitiveFunction() function.Function {
	return onMarked(cty.Bool, func(v cty.Value) cty.Value {
		switch {
		case v.HasMark(Sensitive{}):
			return cty.True
		case !v.IsKnown():
			return cty.UnknownVal(cty.Bool)
		}
		return cty.False
	})
}

// onMarked returns a function that reads or changes marks; a NilType result stands
// for the argument's type.
func onMarked(result cty.Type, f func(cty.Value) cty.Value) function.Function {
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
