package schema

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// object is a part of a JSON Schema.
type object = map[string]any

// ForConfig returns the JSON Schema of the config that people may write in a block.
func (b *Block) ForConfig() map[string]any {
	properties, required := object{}, []string{}
	for name, a := range b.Attributes {
		if a.Computed && !a.Optional && !a.Required {
			continue // a config must not set it
		}
		s := a.config()
		if !a.Required {
			s = orNull(s)
		} else {
			required = append(required, name)
		}
		properties[name] = described(s, a)
	}
	for name, n := range b.Blocks {
		if n.Min > 0 && n.Mode != Group {
			required = append(required, name)
			properties[name] = n.config()
		} else {
			properties[name] = orNull(n.config())
		}
	}
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = sorted(required)
	}
	return s
}

func (a *Attribute) config() object {
	if a.Nested != nil {
		return a.Nested.config()
	}
	return ofType(a.Type, true)
}

func (n *Nested) config() object {
	inner := n.Block.ForConfig()
	if n.Mode == List || n.Mode == Set { // a single block may be written without a list around it
		return object{"anyOf": []any{n.of(inner), inner}}
	}
	return n.of(inner)
}

// of returns the schema of all nested blocks, from the schema of one.
func (n *Nested) of(inner object) object {
	switch n.Mode {
	case Single, Group:
		return inner
	case Map:
		return object{"type": "object", "additionalProperties": inner}
	}
	return object{"type": "array", "items": inner}
}

// ForState returns the JSON Schema of the state of a block.
func (b *Block) ForState() map[string]any {
	properties, required := object{}, []string{}
	for name, a := range b.Attributes {
		var s object
		if a.Nested != nil {
			s = a.Nested.of(a.Nested.Block.ForState())
		} else {
			s = ofType(a.Type, false)
		}
		if !a.Required || a.WriteOnly {
			s = orNull(s)
		}
		properties[name], required = described(s, a), append(required, name)
	}
	for name, n := range b.Blocks {
		properties[name], required = orNull(n.of(n.Block.ForState())), append(required, name)
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties, "required": sorted(required)}
}

func described(s object, a *Attribute) object {
	if a.Description != "" {
		s["description"] = a.Description
	}
	if a.Deprecated {
		s["deprecated"] = true
	}
	if a.Sensitive || a.WriteOnly {
		s["writeOnly"] = true
	}
	if a.WriteOnly {
		s["x-unrecorded"] = true // deployster puts it into no state file
	}
	return s
}

// orNull returns a schema that also accepts null.
func orNull(s object) object {
	if kind, ok := s["type"].(string); ok {
		s["type"] = []any{kind, "null"}
		return s
	}
	if kinds, ok := s["type"].([]any); ok {
		s["type"] = append(kinds, "null")
		return s
	}
	if len(s) == 0 {
		return s
	}
	return object{"anyOf": []any{s, object{"type": "null"}}}
}

// ofType returns the schema of a type. With written, each kind of scalar is also accepted
// as any other.
func ofType(t cty.Type, written bool) object {
	switch {
	case t == cty.DynamicPseudoType:
		return object{}
	case t.IsPrimitiveType() && written:
		return object{"type": []any{"string", "number", "boolean"}}
	case t == cty.String:
		return object{"type": "string"}
	case t == cty.Number:
		return object{"type": "number"}
	case t == cty.Bool:
		return object{"type": "boolean"}
	case t.IsMapType():
		return object{"type": "object", "additionalProperties": orNull(ofType(t.ElementType(), written))}
	case t.IsObjectType():
		properties := object{}
		for name, inner := range t.AttributeTypes() {
			properties[name] = orNull(ofType(inner, written))
		}
		return object{"type": "object", "additionalProperties": false, "properties": properties}
	case t.IsTupleType():
		return object{"type": "array"}
	}
	return object{"type": "array", "items": orNull(ofType(t.ElementType(), written))}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
