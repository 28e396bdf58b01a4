package resource

import (
	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// withoutWriteOnly returns a state without write-only values, at any depth: no plan and no
// state has them, whatever a provider answers.
func withoutWriteOnly(b *schema.Block, v cty.Value) cty.Value {
	if !hasWriteOnly(b) || v.IsNull() || !v.IsKnown() {
		return v
	}
	out := v.AsValueMap()
	for name, a := range b.Attributes {
		switch {
		case a.WriteOnly:
			out[name] = cty.NullVal(v.Type().AttributeType(name))
		case a.Nested != nil:
			out[name] = withoutNested(a.Nested, out[name])
		}
	}
	for name, n := range b.Blocks {
		out[name] = withoutNested(n, out[name])
	}
	return cty.ObjectVal(out)
}

func hasWriteOnly(b *schema.Block) bool {
	for _, a := range b.Attributes {
		if a.WriteOnly || a.Nested != nil && hasWriteOnly(a.Nested.Block) {
			return true
		}
	}
	for _, n := range b.Blocks {
		if hasWriteOnly(n.Block) {
			return true
		}
	}
	return false
}

// withoutNested is withoutWriteOnly for all nested blocks of one name.
func withoutNested(n *schema.Nested, v cty.Value) cty.Value {
	switch {
	case !hasWriteOnly(n.Block) || v.IsNull() || !v.IsKnown():
		return v
	case n.Mode == schema.Single || n.Mode == schema.Group:
		return withoutWriteOnly(n.Block, v)
	case v.LengthInt() == 0:
		return v
	case v.Type().IsMapType() || v.Type().IsObjectType():
		out := v.AsValueMap()
		for key, inner := range out {
			out[key] = withoutWriteOnly(n.Block, inner)
		}
		if v.Type().IsMapType() {
			return cty.MapVal(out)
		}
		return cty.ObjectVal(out)
	}
	var list []cty.Value
	for _, inner := range v.AsValueSlice() {
		list = append(list, withoutWriteOnly(n.Block, inner))
	}
	switch {
	case v.Type().IsSetType():
		return cty.SetVal(list)
	case v.Type().IsListType():
		return cty.ListVal(list)
	}
	return cty.TupleVal(list)
}
