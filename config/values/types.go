package values

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/refs"
	"deployster/internal/base/jsondoc"
)

// StateType is the type of a state by its JSON Schema. Where the schema leaves the
// type open it is cty.DynamicPseudoType, so that it never contradicts the real state.
type StateType struct {
	typ cty.Type
	// loose is typ as if no optional attribute were left out. It is the type of the
	// elements of a list, whose attributes are not known before the list is.
	loose cty.Type
	// Attrs holds the declared attributes of an object; open means that it may have
	// others. typ is dynamic if the object is open, or may lack some.
	Attrs map[string]StateType
	open  bool
}

var anyState = sameType(cty.DynamicPseudoType)

func sameType(t cty.Type) StateType { return StateType{typ: t, loose: t} }

// The limits of a schema: beyond them the type is open.
const (
	maxSchemaDepth = 32
	maxSchemaNodes = 10_000
)

// schemaReader derives types from one schema document.
type schemaReader struct {
	root any
	left int // the number of nodes that may still be read
}

// typeOfState returns the type of a schema. It never fails: parts that it cannot read
// stay open.
func typeOfState(schema json.RawMessage) StateType {
	if len(schema) == 0 {
		return anyState
	}
	root, err := jsondoc.Value(schema)
	if err != nil {
		return anyState
	}
	r := schemaReader{root: root, left: maxSchemaNodes}
	return r.read(root, 0)
}

// combining holds the keywords that make a type differ from what `type` alone declares.
var combining = []string{"anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef", "patternProperties",
	"propertyNames", "unevaluatedProperties", "prefixItems", "additionalItems"}

func (r *schemaReader) read(schema any, depth int) StateType {
	s, ok := schema.(map[string]any)
	if r.left--; !ok || depth > maxSchemaDepth || r.left < 0 {
		return anyState
	}
	if ref, ok := s["$ref"].(string); ok {
		if len(s) > 1 {
			return anyState
		}
		return r.read(jsondoc.Reference(r.root, ref), depth+1)
	}
	typ, _ := s["type"].(string)
	if typ == "object" {
		return r.object(s, depth)
	}
	for _, word := range combining {
		if _, there := s[word]; there {
			return anyState
		}
	}
	switch typ {
	case "string":
		return sameType(cty.String)
	case "integer", "number":
		return sameType(cty.Number)
	case "boolean":
		return sameType(cty.Bool)
	case "array":
		if item := r.read(s["items"], depth+1); !item.loose.HasDynamicTypes() {
			return sameType(cty.List(item.loose))
		}
	}
	return anyState // several types, or one that may be null
}

// object returns the type of an object's schema. The object is closed if it declares
// properties and additionalProperties does not allow others.
func (r *schemaReader) object(s map[string]any, depth int) StateType {
	properties, declared := s["properties"].(map[string]any)
	out := anyState
	out.Attrs, out.open = map[string]StateType{}, true
	types, loose, complete := map[string]cty.Type{}, map[string]cty.Type{}, true
	required, _ := s["required"].([]any)
	for name, p := range properties {
		out.Attrs[name] = r.read(p, depth+1)
		types[name], loose[name] = out.Attrs[name].typ, out.Attrs[name].loose
		complete = complete && slices.Contains(required, any(name))
	}
	more, said := s["additionalProperties"]
	if closed, isBool := more.(bool); said && (!isBool || closed) {
		return out
	}
	for _, word := range combining {
		if _, there := s[word]; there {
			return out
		}
	}
	if !declared || r.left < 0 {
		return out
	}
	out.open, out.loose = false, cty.Object(loose)
	if complete {
		out.typ = cty.Object(types)
	}
	return out
}

// Unknown returns a state of which only the type is known, as detailed as references
// need it: steps are the steps after the state in each reference.
func (t StateType) Unknown(steps []hcl.Traversal) cty.Value {
	if t.Attrs == nil || len(steps) == 0 {
		return cty.UnknownVal(t.typ)
	}
	below := map[string][]hcl.Traversal{}
	for _, s := range steps {
		name := ""
		if len(s) > 0 {
			name = refs.ObjectKey(s[0])
		}
		if name == "" {
			return cty.UnknownVal(t.typ) // a reference reads the whole value
		}
		below[name] = append(below[name], s[1:])
	}
	attrs := map[string]cty.Value{}
	for name, declared := range t.Attrs {
		attrs[name] = declared.Unknown(NonEmpty(below[name]))
	}
	for name := range below {
		if _, declared := t.Attrs[name]; t.open && !declared {
			attrs[name] = cty.DynamicVal
		}
	}
	return cty.ObjectVal(attrs)
}

// NonEmpty returns the traversals if all have further steps, otherwise none: then a
// reference reads the whole value.
func NonEmpty(steps []hcl.Traversal) []hcl.Traversal {
	for _, s := range steps {
		if len(s) == 0 {
			return nil
		}
	}
	return steps
}

// At returns the type of an attribute, as far as it is declared; false if the
// attribute cannot exist.
func (t StateType) At(name string) (StateType, bool) {
	if declared, ok := t.Attrs[name]; ok {
		return declared, true
	}
	return anyState, t.Attrs == nil || t.open
}

// TypeCache holds the types of schemas that were read: ten thousand resources share a few.
type TypeCache struct {
	mu   sync.Mutex
	Read map[string]StateType // by the schema
}

// Of returns the type of a schema.
func (s *TypeCache) Of(schema json.RawMessage) StateType {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.Read[string(schema)]
	if !ok {
		t = typeOfState(schema)
		s.Read[string(schema)] = t
	}
	return t
}
