package values

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/funcs"
	"deployster/internal/base/jsondoc"
)

// inState is a second mark of values that a state makes sensitive: unlike for a
// sensitive variable, nothing in the manifest shows this.
type inState = funcs.FromState

// MarkState marks the values at JSON pointers of a state as sensitive.
func MarkState(v cty.Value, pointers []string) cty.Value {
	return changeAt(v, steps(pointers), func(v cty.Value) cty.Value { return v.Mark(Sensitive{}).Mark(inState{}) }, false)
}

// MarkMayChange marks the values at JSON pointers of a state as expected to stay.
func MarkMayChange(v cty.Value, pointers []string) cty.Value {
	return changeAt(v, steps(pointers), func(v cty.Value) cty.Value { return v.Mark(MayChange{}) }, false)
}

// MakeUnknown makes the values at JSON pointers of a state unknown, including
// attributes that do not exist yet.
func MakeUnknown(v cty.Value, pointers []string) cty.Value {
	return changeAt(v, steps(pointers), UnknownLike, true)
}

func steps(pointers []string) [][]string {
	steps := make([][]string, len(pointers))
	for i, p := range pointers {
		steps[i] = jsondoc.Pointer(p)
	}
	return steps
}

// changeAt changes a value at all pointers in one pass, because each change of a list
// or an object copies it. With missing, it adds missing attributes as unknown values.
func changeAt(v cty.Value, pointers [][]string, change func(cty.Value) cty.Value, missing bool) cty.Value {
	below := map[string][][]string{}
	for _, p := range pointers {
		if len(p) == 0 {
			return change(v)
		}
		below[p[0]] = append(below[p[0]], p[1:])
	}
	plain, marks := v.Unmark()
	if len(below) == 0 || plain.IsNull() || !plain.CanIterateElements() {
		return v
	}
	if plain.Type().IsObjectType() {
		attrs := plain.AsValueMap()
		if attrs == nil {
			attrs = map[string]cty.Value{}
		}
		for name, rest := range below {
			if child, ok := attrs[name]; ok {
				attrs[name] = changeAt(child, rest, change, missing)
			} else if missing {
				attrs[name] = cty.DynamicVal
			}
		}
		return cty.ObjectVal(attrs).WithMarks(marks)
	}
	items := plain.AsValueSlice()
	for step, rest := range below {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(items) {
			items[i] = changeAt(items[i], rest, change, missing)
		}
	}
	return cty.TupleVal(items).WithMarks(marks)
}

// IsPlain reports whether nothing in v is unknown or has a mark, as in most configs.
func IsPlain(v cty.Value) bool {
	if v.IsMarked() || !v.IsKnown() {
		return false
	}
	if v.IsNull() || !v.Type().IsObjectType() {
		return v.Type().IsPrimitiveType() || v.IsWhollyKnown() && !v.ContainsMarked()
	}
	for name := range v.Type().AttributeTypes() {
		if !IsPlain(v.GetAttr(name)) {
			return false
		}
	}
	return true
}

// UnknownLike returns an unknown value with the marks of v and of its parts.
func UnknownLike(v cty.Value) cty.Value {
	_, marks := v.UnmarkDeep()
	return cty.DynamicVal.WithMarks(marks)
}

// Sensitivity reports whether something in v is sensitive, and whether something is
// that no state made sensitive: then the manifest shows it.
func Sensitivity(v cty.Value) (hidden, written bool) {
	_, marks := v.UnmarkDeepWithPaths()
	for _, pm := range marks {
		if pm.Marks.Has(Sensitive{}) {
			hidden = true
			written = written || !pm.Marks.Has(inState{})
		}
	}
	return hidden, written
}

// Sensitive is the mark of values that must never be printed.
type Sensitive = funcs.Sensitive

// MayChange is the mark of values that are expected to stay, but may change before
// they are needed.
type MayChange = funcs.MayChange
