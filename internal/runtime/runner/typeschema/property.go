package typeschema

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
)

// Property is what a config schema declares about the value at a JSON pointer.
type Property struct {
	Always    bool            // the value and all objects around it are required or have a default
	Default   json.RawMessage // nil = none
	Scalar    string          // string, number, integer or boolean; "" = another type, or several
	Enum      []any
	WriteOnly bool // the value is a secret, or a part of one
}

// FindProperty finds a property in a schema, through references and allOf. It does not
// find a property that the schema does not name.
func (s *Schemas) FindProperty(schema json.RawMessage, pointer string) (Property, bool) {
	read := s.schema(schema)
	if read.err != nil {
		return Property{}, false
	}
	root := read.document
	f := propertyFinder{root: root}
	at, p := f.parts(root), Property{Always: true}
	for _, step := range jsondoc.Pointer(pointer) {
		var found []any
		required := false
		for _, part := range at {
			properties, _ := part["properties"].(map[string]any)
			if inner, there := properties[step]; there {
				found = append(found, inner)
			}
			list, _ := part["required"].([]any)
			required = required || slices.Contains(list, any(step))
		}
		if len(found) == 0 {
			return Property{}, false
		}
		at = f.parts(found...)
		p.Default, p.Scalar, p.Enum = nil, "", nil
		for _, part := range at {
			p.take(part)
		}
		p.Always = p.Always && (required || p.Default != nil)
	}
	return p, len(at) > 0
}

// PropertyNames returns the names of a schema's top-level properties, sorted.
func (s *Schemas) PropertyNames(schema json.RawMessage) []string {
	read := s.schema(schema)
	if read.err != nil {
		return nil
	}
	root := read.document
	names := map[string]bool{}
	for _, part := range (propertyFinder{root: root}).parts(root) {
		properties, _ := part["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// take adds what one part of a property's schema declares.
func (p *Property) take(part map[string]any) {
	if value, there := part["default"]; there && value != nil {
		if raw, err := jsondoc.Encode(value); err == nil {
			p.Default = raw
		}
	}
	if name, _ := part["type"].(string); slices.Contains([]string{"string", "number", "integer", "boolean"}, name) {
		p.Scalar = name
	}
	if list, ok := part["enum"].([]any); ok {
		p.Enum = list
	}
	p.WriteOnly = p.WriteOnly || part["writeOnly"] == true
}

// propertyFinder finds properties in a schema.
type propertyFinder struct{ root any }

// maxParts limits how many parts of a schema may apply to one value.
const maxParts = 1000

// parts returns all schemas that apply to one value: the given ones, those that they
// refer to, and those of their allOf.
func (f propertyFinder) parts(schemas ...any) []map[string]any {
	var parts []map[string]any
	for open := schemas; len(open) > 0 && len(parts) < maxParts; {
		schema, ok := open[0].(map[string]any)
		if open = open[1:]; !ok {
			continue
		}
		parts = append(parts, schema)
		if ref, ok := schema["$ref"].(string); ok {
			open = append(open, jsondoc.Reference(f.root, ref))
		}
		if all, ok := schema["allOf"].([]any); ok {
			open = append(open, all...)
		}
	}
	return parts
}
