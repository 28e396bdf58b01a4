package values

import (
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/funcs"
	"deployster/internal/base/jsondoc"
)

// inState is a second mark of what is sensitive because a state says so: unlike
// a sensitive variable, nothing in the manifest shows that it is.
type inState = funcs.FromState

// MarkState marks what is at the JSON pointers of a state as sensitive.
func MarkState(v cty.Value, pointers []string) cty.Value {
	return changeAt(v, steps(pointers), func(v cty.Value) cty.Value { return v.Mark(Sensitive{}).Mark(inState{}) }, false)
}

// MarkMayChange marks what is at the JSON pointers of a state as expected to stay.
func MarkMayChange(v cty.Value, pointers []string) cty.Value {
	return changeAt(v, steps(pointers), func(v cty.Value) cty.Value { return v.Mark(MayChange{}) }, false)
}

// MakeUnknown makes what is at the JSON pointers of a state unknown, also what is
// not there yet.
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

// changeAt goes through a value once for all pointers, because each change of a
// list or an object makes a new one. Attributes that are missing can be made.
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

// UnknownLike is an unknown value in the place of v that is as sensitive as
// what is in v.
func UnknownLike(v cty.Value) cty.Value {
	_, marks := v.UnmarkDeep()
	return cty.DynamicVal.WithMarks(marks)
}

// Sensitivity reports whether something in v is sensitive, and whether something
// is that no state made so: that is written in the manifest.
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

// MayChange is the mark of values that are expected to stay, and may change before
// they are needed.
type MayChange = funcs.MayChange
