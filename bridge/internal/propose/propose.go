package propose

import (
	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// New returns the proposed new state of a block. prior is null if the object does not exist:
// then computed attributes are null, and the provider makes them unknown when it plans.
func New(b *schema.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	return block(b, prior, config)
}

func block(b *schema.Block, prior, config cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for name, a := range b.Attributes {
		values[name] = attribute(a, member(prior, name, a.Type), config.GetAttr(name))
	}
	for name, n := range b.Blocks {
		values[name] = nested(n, member(prior, name, n.Type()), config.GetAttr(name))
	}
	return cty.ObjectVal(values)
}

// member returns an attribute of an object, null if there is none.
func member(v cty.Value, name string, t cty.Type) cty.Value {
	switch {
	case !v.IsKnown():
		return cty.UnknownVal(t)
	case v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name):
		return cty.NullVal(t)
	}
	return v.GetAttr(name)
}

func attribute(a *schema.Attribute, prior, config cty.Value) cty.Value {
	switch {
	case a.Computed && config.IsKnown() && config.IsNull():
		if a.Nested != nil && a.Optional && holdsWritten(a.Nested, prior) {
			return config // it was in the config, and no longer is
		}
		return prior
	case a.Nested != nil:
		return nested(a.Nested, prior, config)
	}
	return config
}

// holdsWritten reports whether nested attributes have a value that can only come from a
// config.
func holdsWritten(n *schema.Nested, prior cty.Value) bool {
	if prior.IsNull() || !prior.IsKnown() {
		return false
	}
	items := []cty.Value{prior}
	if n.Mode != schema.Single {
		items = prior.AsValueSlice()
	}
	for _, v := range items {
		if v.IsNull() || !v.IsKnown() {
			continue
		}
		for name, a := range n.Block.Attributes {
			inner := v.GetAttr(name)
			if a.Nested != nil && holdsWritten(a.Nested, inner) || !a.Computed && inner.IsKnown() && !inner.IsNull() {
				return true
			}
		}
	}
	return false
}

// nested proposes each nested block from its prior block: in a list the one with the same
// index, in a map the one with the same key, in a set one with the same written values.
func nested(n *schema.Nested, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	switch n.Mode {
	case schema.Single, schema.Group:
		return item(n, prior, config)
	case schema.Map:
		values := map[string]cty.Value{}
		for key, c := range config.AsValueMap() {
			was := cty.NullVal(n.Block.Type())
			if prior.IsKnown() && !prior.IsNull() {
				if v, there := prior.AsValueMap()[key]; there {
					was = v
				}
			}
			values[key] = item(n, was, c)
		}
		switch {
		case n.Type() == cty.DynamicPseudoType:
			return cty.ObjectVal(values)
		case len(values) == 0:
			return config
		}
		return cty.MapVal(values)
	}
	if config.LengthInt() == 0 {
		return config
	}
	var before, values []cty.Value
	if prior.IsKnown() && !prior.IsNull() {
		before = prior.AsValueSlice()
	}
	used := make([]bool, len(before))
	for i, c := range config.AsValueSlice() {
		was := cty.NullVal(n.Block.Type())
		switch {
		case n.Mode == schema.List && i < len(before):
			was = before[i]
		case n.Mode == schema.Set:
			for j, v := range before {
				if !used[j] && written(n.Block, v, c) {
					was, used[j] = v, true
					break
				}
			}
		}
		values = append(values, item(n, was, c))
	}
	switch {
	case n.Type() == cty.DynamicPseudoType:
		return cty.TupleVal(values)
	case n.Mode == schema.Set:
		return cty.SetVal(values)
	}
	return cty.ListVal(values)
}

// item proposes one of the nested blocks.
func item(n *schema.Nested, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	return block(n.Block, prior, config)
}

// written reports whether a prior block has the values of a config, except for those that
// the provider has chosen.
func written(b *schema.Block, prior, config cty.Value) bool {
	if prior.IsNull() || config.IsNull() || !prior.IsKnown() || !config.IsKnown() {
		return prior.RawEquals(config)
	}
	for name, a := range b.Attributes {
		p, c := prior.GetAttr(name), config.GetAttr(name)
		switch {
		case a.Computed && c.IsKnown() && c.IsNull():
		case a.Nested != nil && !writtenAll(a.Nested, p, c), a.Nested == nil && !p.RawEquals(c):
			return false
		}
	}
	for name, n := range b.Blocks {
		if p := prior.GetAttr(name); !p.IsNull() && !writtenAll(n, p, config.GetAttr(name)) {
			return false
		}
	}
	return true
}

// writtenAll is written for all nested blocks in one. Additional blocks in the config, or
// blocks that are null in prior, make no difference; sets in sets must be equal.
func writtenAll(n *schema.Nested, prior, config cty.Value) bool {
	switch {
	case prior.IsNull() || config.IsNull() || !prior.IsKnown() || !config.IsKnown() || n.Mode == schema.Set:
		return prior.RawEquals(config)
	case n.Mode == schema.Single || n.Mode == schema.Group:
		return written(n.Block, prior, config)
	case n.Mode == schema.Map:
		now := config.AsValueMap()
		for key, p := range prior.AsValueMap() {
			if c, there := now[key]; !there || !written(n.Block, p, c) {
				return false
			}
		}
		return true
	}
	now := config.AsValueSlice()
	for i, p := range prior.AsValueSlice() {
		if i >= len(now) || !written(n.Block, p, now[i]) {
			return false
		}
	}
	return true
}
