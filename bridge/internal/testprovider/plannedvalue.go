package testprovider

import (
	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// changer changes the attributes of a value, at any depth.
type changer func(a *schema.Attribute, v cty.Value) cty.Value

// withoutWriteOnly removes write-only values, which no state has.
func withoutWriteOnly(a *schema.Attribute, v cty.Value) cty.Value {
	if a.WriteOnly {
		return cty.NullVal(a.Type)
	}
	return v
}

// withUnknown makes computed values unknown that the config leaves out: they are chosen at creation.
func withUnknown(a *schema.Attribute, v cty.Value) cty.Value {
	if a.Computed && v.IsNull() {
		return cty.UnknownVal(a.Type)
	}
	return v
}

func (c changer) block(b *schema.Block, v cty.Value) cty.Value {
	if v.IsNull() || !v.IsKnown() {
		return v
	}
	out := v.AsValueMap()
	for name, a := range b.Attributes {
		if out[name] = c(a, out[name]); a.Nested != nil {
			out[name] = c.nested(a.Nested, out[name])
		}
	}
	for name, n := range b.Blocks {
		out[name] = c.nested(n, out[name])
	}
	return cty.ObjectVal(out)
}

func (c changer) nested(n *schema.Nested, v cty.Value) cty.Value {
	switch {
	case v.IsNull() || !v.IsKnown():
		return v
	case n.Mode == schema.Single || n.Mode == schema.Group:
		return c.block(n.Block, v)
	case v.LengthInt() == 0:
		return v
	case n.Mode == schema.Map:
		out := v.AsValueMap()
		for key, inner := range out {
			out[key] = c.block(n.Block, inner)
		}
		return cty.MapVal(out)
	}
	var out []cty.Value
	for _, inner := range v.AsValueSlice() {
		out = append(out, c.block(n.Block, inner))
	}
	if n.Mode == schema.Set {
		return cty.SetVal(out)
	}
	return cty.ListVal(out)
}
