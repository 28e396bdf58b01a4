package values

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/config/refs"
)

// Part returns an element of an object, a map or a list, by its key in a JSON pointer.
func Part(v cty.Value, key string) (cty.Value, bool) {
	for i, it := 0, elements(v); it != nil && it.Next(); i++ {
		k, child := it.Element()
		if limits.ElementKey(v.Type(), k, i) == key {
			return child, true
		}
	}
	return cty.NilVal, false
}

// PartNames returns the keys of the elements of a value, for Part.
func PartNames(v cty.Value) []string {
	var names []string
	for i, it := 0, elements(v); it != nil && it.Next(); i++ {
		k, _ := it.Element()
		names = append(names, limits.ElementKey(v.Type(), k, i))
	}
	return names
}

func elements(v cty.Value) cty.ElementIterator {
	if !v.CanIterateElements() {
		return nil
	}
	return v.ElementIterator()
}

// Same reports whether two values are known to be equal.
func Same(a, b cty.Value) bool {
	a, _ = a.UnmarkDeep()
	b, _ = b.UnmarkDeep()
	if !a.IsWhollyKnown() || !b.IsWhollyKnown() {
		return false
	}
	var x, y Writer
	return x.Value(a) == nil && y.Value(b) == nil && x.Out.String() == y.Out.String()
}

// KeepAt replaces the part of v at a path by that of before, or removes the part if
// before has none.
func KeepAt(v, before cty.Value, keys []string) cty.Value {
	if len(keys) == 0 {
		return before
	}
	plain, marks := v.Unmark()
	old, _ := before.Unmark()
	if !plain.IsKnown() || plain.IsNull() || !plain.CanIterateElements() || !old.CanIterateElements() {
		return v
	}
	was, there := Part(old, keys[0])
	is, present := Part(plain, keys[0])
	if t := plain.Type(); !t.IsObjectType() && !t.IsMapType() {
		if !there || !present {
			return v // a list keeps its length
		}
		items := plain.AsValueSlice()
		for i := range items {
			if limits.ElementKey(t, cty.NilVal, i) == keys[0] {
				items[i] = KeepAt(is, was, keys[1:])
			}
		}
		return cty.TupleVal(items).WithMarks(marks)
	}
	attrs := plain.AsValueMap()
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	switch {
	case there && (present || len(keys) == 1):
		if !present {
			is = was
		}
		attrs[keys[0]] = KeepAt(is, was, keys[1:])
	case present && len(keys) == 1:
		delete(attrs, keys[0])
	}
	return cty.ObjectVal(attrs).WithMarks(marks)
}

// Reveal adds an unknown value at the first step of a reference that an incomplete
// value does not have.
func Reveal(v cty.Value, steps hcl.Traversal, open bool, typ StateType) cty.Value {
	plain, marks := v.Unmark()
	return revealPlain(plain, steps, open, typ).WithMarks(marks)
}

func revealPlain(v cty.Value, steps hcl.Traversal, open bool, typ StateType) cty.Value {
	if !v.IsKnown() {
		return v
	}
	if v.IsNull() || len(steps) == 0 {
		if len(steps) > 0 || open && !v.Type().IsPrimitiveType() {
			return UnknownLike(v)
		}
		return v
	}
	switch t := v.Type(); {
	case t.IsObjectType():
		name := refs.ObjectKey(steps[0])
		if name == "" {
			return v
		}
		attrs := v.AsValueMap()
		if attrs == nil {
			attrs = map[string]cty.Value{}
		}
		below, possible := typ.At(name)
		if child, ok := attrs[name]; ok {
			attrs[name] = Reveal(child, steps[1:], open, below)
		} else if possible {
			attrs[name] = below.Unknown(NonEmpty([]hcl.Traversal{steps[1:]}))
		}
		return cty.ObjectVal(attrs)
	case t.IsTupleType():
		i, ok := refs.TupleIndex(steps[0])
		if !ok {
			return v
		}
		items := v.AsValueSlice()
		if i >= len(items) {
			return UnknownLike(v)
		}
		items[i] = Reveal(items[i], steps[1:], open, anyState)
		return cty.TupleVal(items)
	}
	return v // a step into text or a number: the evaluation reports the error
}

// EachUnknown calls f with the pointer of each unknown value in v.
func EachUnknown(v cty.Value, at []string, f func([]string)) {
	v, _ = v.Unmark()
	if !v.IsKnown() {
		f(at)
		return
	}
	if v.IsNull() || !v.CanIterateElements() {
		return
	}
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		k, child := it.Element()
		EachUnknown(child, append(slices.Clone(at), limits.ElementKey(v.Type(), k, i)), f)
	}
}
