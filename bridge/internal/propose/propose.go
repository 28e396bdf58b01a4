package propose

import (
	"github.com/zclconf/go-cty/cty"

	"deployster/bridge/internal/schema"
)

// New is the proposed new state of a block. prior is null when nothing is there: what
// the provider is to choose is unknown then.
func New(b *schema.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	if prior.IsNull() {
		prior = unset(b)
	}
	return block(b, prior, config)
}

// unset is a block of which nothing is known that the provider is to choose.
func unset(b *schema.Block) cty.Value {
	values := map[string]cty.Value{}
	for name, a := range b.Attributes {
		if values[name] = cty.NullVal(a.Type); a.Computed {
			values[name] = cty.UnknownVal(a.Type)
		}
	}
	for name, n := range b.Blocks {
		values[name] = cty.NullVal(n.Type())
	}
	return cty.ObjectVal(values)
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

// member is an attribute of an object, null where there is none.
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
	case a.WriteOnly: // it is in the config, and in no state
		return cty.NullVal(a.Type)
	case a.Computed && config.IsKnown() && config.IsNull():
		return prior
	case a.Nested != nil:
		return nested(a.Nested, prior, config)
	}
	return config
}

// nested proposes each of a group of blocks by the one that it was: of a list by its
// place, of a map by its key, of a set by all that a person has written of it.
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

// item is one of them; of one that was not there the provider chooses what it may.
func item(n *schema.Nested, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	if prior.IsNull() || !prior.IsKnown() {
		prior = unset(n.Block)
	}
	return block(n.Block, prior, config)
}

// written reports whether a thing that was there is as a config has it, but for what
// the provider has chosen.
func written(b *schema.Block, prior, config cty.Value) bool {
	for name, a := range b.Attributes {
		c := config.GetAttr(name)
		if a.Computed && c.IsKnown() && c.IsNull() {
			continue
		}
		if !c.IsWhollyKnown() || !prior.GetAttr(name).RawEquals(c) {
			return false
		}
	}
	for name := range b.Blocks {
		if !prior.GetAttr(name).RawEquals(config.GetAttr(name)) {
			return false
		}
	}
	return true
}
