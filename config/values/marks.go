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
	steps := make([][]string, len(pointers))
	for i, p := range pointers {
		steps[i] = jsondoc.Pointer(p)
	}
	return markAt(v, steps)
}

// markAt goes through a value once for all pointers, because each change of a
// list or an object makes a new one.
func markAt(v cty.Value, pointers [][]string) cty.Value {
	below := map[string][][]string{}
	for _, p := range pointers {
		if len(p) == 0 {
			return v.Mark(Sensitive{}).Mark(inState{})
		}
		below[p[0]] = append(below[p[0]], p[1:])
	}
	switch {
	case len(below) == 0 || v.IsNull() || !v.CanIterateElements() || v.LengthInt() == 0:
		return v
	case v.Type().IsObjectType():
		attrs := v.AsValueMap()
		for name, rest := range below {
			if child, ok := attrs[name]; ok {
				attrs[name] = markAt(child, rest)
			}
		}
		return cty.ObjectVal(attrs)
	}
	items := v.AsValueSlice()
	for step, rest := range below {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(items) {
			items[i] = markAt(items[i], rest)
		}
	}
	return cty.TupleVal(items)
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
