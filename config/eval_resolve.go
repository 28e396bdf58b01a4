package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// convertTo converts a value, for a place that needs a certain type.
func convertTo(value cty.Value, want cty.Type, at hcl.Range, what string) (cty.Value, hcl.Diagnostics) {
	got, err := convert.Convert(value, want)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{failure(at, "Wrong type", "%s must be %s.", capital(what), mismatch(want, value, err))}
	}
	return got, nil
}

// resolve writes a value as JSON, and says what in it is unknown and what
// sensitive.
func (e *evaluator) resolve(expr hcl.Expression, at site, v cty.Value) (Resolved, hcl.Diagnostics) {
	out := Resolved{Unknown: map[string]string{}}
	plain, marks := v.UnmarkDeepWithPaths()
	for _, pm := range marks {
		if pm.Marks.Has(sensitive{}) {
			out.Sensitive = append(out.Sensitive, pathPointer(v, pm.Path))
		}
	}
	slices.Sort(out.Sensitive)
	out.Sensitive = slices.Compact(out.Sensitive)
	if !e.dry {
		e.blame(expr, at, v, nil, out.Unknown)
	}
	w := jsonWriter{unknown: out.Unknown}
	if err := w.value(plain); err != nil {
		place := expr.Range()
		if next, rest := descend(expr, pointerSteps(w.at)); len(rest) < len(w.at) {
			place = next.Range()
		}
		return Resolved{}, hcl.Diagnostics{failure(place, "Invalid value", "%s.", err)}
	}
	out.Value = w.b.Bytes()
	return out, nil
}

// stateType is what the schema in the scope says of a resource's state.
func (e *evaluator) stateType(address string) stateType {
	if t, ok := e.types[address]; ok {
		return t
	}
	t := e.m.types.of(e.scope[address].Schema)
	e.types[address] = t
	return t
}
