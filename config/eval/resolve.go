package eval

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// convertTo converts a value to the type that its place needs.
func convertTo(value cty.Value, want cty.Type, at hcl.Range, what string) (cty.Value, hcl.Diagnostics) {
	got, err := convert.Convert(value, want)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{source.Failure(at, "Wrong type", "%s must be %s.", values.Capital(what), values.Mismatch(want, value,
			err))}
	}
	return got, nil
}

// resolve encodes a value as JSON, with the pointers of its unknown and sensitive parts.
func (e *Evaluator) resolve(expr hcl.Expression, at instance.Scope, v cty.Value) (instance.Resolved, hcl.Diagnostics) {
	out := instance.Resolved{Unknown: map[string]string{}}
	plain, marks := v.UnmarkDeepWithPaths()
	for _, pm := range marks {
		if pm.Marks.Has(values.Sensitive{}) {
			out.Sensitive = append(out.Sensitive, values.PathPointer(v, pm.Path))
		}
	}
	slices.Sort(out.Sensitive)
	out.Sensitive = slices.Compact(out.Sensitive)
	if !e.Dry {
		blamer{e, out.Unknown}.blame(expr, at, v, nil)
	}
	for _, pm := range marks {
		pointer := values.PathPointer(v, pm.Path)
		if _, unknown := out.Unknown[pointer]; !unknown && pm.Marks.Has(values.MayChange{}) {
			out.MayChange = append(out.MayChange, pointer)
		}
	}
	slices.Sort(out.MayChange)
	out.MayChange = slices.Compact(out.MayChange)
	w := values.Writer{Unknown: out.Unknown}
	if err := w.Value(plain); err != nil {
		place := expr.Range()
		if next, rest := refs.Descend(expr, refs.PointerSteps(w.At)); len(rest) < len(w.At) {
			place = next.Range()
		}
		return instance.Resolved{}, hcl.Diagnostics{source.Failure(place, "Invalid value", "%s.", err)}
	}
	out.Value = w.Out.Bytes()
	return out, nil
}

// declared returns the attributes that a type's schema declares for the state at the end of a reference; nil
// = the reference ends elsewhere.
func declared(e *Evaluator, t hcl.Traversal) map[string]values.StateType {
	if n := len(t) - 1; n < 2 || t.RootName() != "resource" || refs.ObjectKey(t[n]) != "state" {
		return nil
	}
	return e.stateType(strings.TrimPrefix(refs.TraversalString(t[:len(t)-1]), "resource.")).Attrs
}

// stateType returns the type of a resource's state by the schema in the scope.
func (e *Evaluator) stateType(address string) values.StateType {
	if t, ok := e.types[address]; ok {
		return t
	}
	schema := e.scope[address].Schema
	if strings.HasPrefix(address, decl.PublishPrefix) {
		schema = publishedSchema
	}
	t := e.M.types.Of(schema)
	e.types[address] = t
	return t
}
