package results

import (
	"encoding/json"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
)

// Config evaluates a resource's config into JSON.
func Config(e *eval.Evaluator, i *instance.Instance) (cty.Value, instance.Resolved, hcl.Diagnostics) {
	value, diags := e.OwnConfig(i)
	if diags.HasErrors() {
		return value, instance.Resolved{}, diags
	}
	a := i.Decl.Attrs["config"]
	if a == nil {
		return value, instance.Resolved{Value: []byte("{}"), Unknown: map[string]string{}}, diags
	}
	if plain, _ := value.Unmark(); plain.IsKnown() && (plain.IsNull() || !plain.Type().IsObjectType() && !plain.Type().IsMapType()) {
		return value, instance.Resolved{}, append(diags, source.Failure(a.Expr.Range(), "Invalid config",
			"The config of a resource is an object, { NAME = VALUE }, and this %s.", values.Describe(value)))
	}
	out, d := resolve(e, a.Expr, i.Scope(), value)
	out.Ignored = e.Kept(i)
	return value, out, append(diags, d...)
}

// Defaults evaluates the defaults of a type into JSON. Their errors are reported for the
// configs that use them.
func Defaults(e *eval.Evaluator, expr hcl.Expression, at instance.Scope) instance.Resolved {
	value, diags := e.Value(expr, at)
	if plain, _ := value.Unmark(); diags.HasErrors() || !plain.IsKnown() || plain.IsNull() || !plain.Type().IsObjectType() {
		return instance.Resolved{}
	}
	out, _ := resolve(e, expr, at, value)
	return out
}

// StaticObject evaluates an attribute that must be an object and be known now, and
// may have sensitive parts. Without the attribute it returns an empty object.
func StaticObject(m *eval.Modules, a *hcl.Attribute, what string, at instance.Scope) (instance.Resolved, hcl.Diagnostics) {
	empty := instance.Resolved{Value: json.RawMessage("{}"), Unknown: map[string]string{}}
	v, diags := m.AttrAt(a, cty.DynamicPseudoType, decl.Usage{What: what, Static: true}, at)
	if v == cty.NilVal {
		return empty, diags
	}
	if plain, _ := v.Unmark(); !plain.Type().IsObjectType() && !plain.Type().IsMapType() {
		return empty, append(diags, source.Failure(a.Expr.Range(), "Wrong type", "%s is an object, { NAME = VALUE }, and this %s.",
			values.Capital(what), values.Describe(v)))
	}
	out, d := resolve(m.Evaluator(nil), a.Expr, at, v)
	if d.HasErrors() {
		return empty, append(diags, d...)
	}
	return out, diags
}

// resolve encodes a value as JSON, with the pointers of its unknown and sensitive parts.
func resolve(e *eval.Evaluator, expr hcl.Expression, at instance.Scope, v cty.Value) (instance.Resolved, hcl.Diagnostics) {
	out := instance.Resolved{Unknown: map[string]string{}}
	var marks []cty.PathValueMarks
	plain := v
	if !values.IsPlain(v) {
		plain, marks = v.UnmarkDeepWithPaths()
		if !e.Dry {
			out.Unknown = trace.Unknown(e, expr, at, v)
		}
	}
	for _, pm := range marks {
		if pm.Marks.Has(values.Sensitive{}) {
			out.Sensitive = append(out.Sensitive, values.PathPointer(v, pm.Path))
		}
	}
	slices.Sort(out.Sensitive)
	out.Sensitive = slices.Compact(out.Sensitive)
	for _, pm := range marks {
		pointer := values.PathPointer(v, pm.Path)
		if _, unknown := out.Unknown[pointer]; !unknown && pm.Marks.Has(values.MayChange{}) {
			out.MayChange = append(out.MayChange, pointer)
		}
	}
	slices.Sort(out.MayChange)
	out.MayChange = slices.Compact(out.MayChange)
	w := values.Writer{Unknown: out.Unknown}
	err := w.Value(plain)
	if err != nil || values.MayHoldSecrets(marks, w.Out.Bytes()) {
		if at, wrong := values.CheckSecrets(v); wrong != nil {
			place, _ := refs.Descend(expr, refs.PointerSteps(jsondoc.Pointer(at)))
			return instance.Resolved{}, hcl.Diagnostics{source.Failure(place.Range(), "A secret cannot be used here", "%s.",
				values.Capital(wrong.Error()))}
		}
	}
	if err != nil {
		place := expr.Range()
		if next, rest := refs.Descend(expr, refs.PointerSteps(w.At)); len(rest) < len(w.At) {
			place = next.Range()
		}
		return instance.Resolved{}, hcl.Diagnostics{source.Failure(place, "Invalid value", "%s.", err)}
	}
	out.Value = w.Out.Bytes()
	return out, nil
}
