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

// StateType is what a JSON Schema says of the type of a state. Where the schema
// leaves the type open it is cty.DynamicPseudoType: nothing is claimed that may
// turn out otherwise.
type StateType struct {
	typ cty.Type
	// loose is typ as it is when no attribute is left out that may be: that of an
	// element of a list, whose attributes are not counted before it is there.
	loose cty.Type
	// Attrs are the declared attributes of an object, and open says that it may
	// have others. Its typ is dynamic when it is open, or may lack some.
	Attrs map[string]StateType
	open  bool
}

var anyState = sameType(cty.DynamicPseudoType)

func sameType(t cty.Type) StateType { return StateType{typ: t, loose: t} }

// Bounds of a schema that is looked at: deeper or larger, anything goes.
const (
	maxSchemaDepth = 32
	maxSchemaNodes = 10_000
)

// schemaReader makes types of one schema document.
type schemaReader struct {
	root any
	left int // nodes that may still be looked at
}

// typeOfState reads a schema. It never fails: what it cannot read it leaves
// open.
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

// combining are the keywords after which a type is not what `type` alone says.
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

// object reads the schema of an object: closed when it declares properties and
// says nothing of others.
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

// Unknown is a state of which only the type is known, as far as references
// look into it: steps are what follows the state in each.
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
			return cty.UnknownVal(t.typ) // all of it is looked at
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

// NonEmpty gives traversals that all lead on, or none: when one ends here, the
// value as a whole is looked at.
func NonEmpty(steps []hcl.Traversal) []hcl.Traversal {
	for _, s := range steps {
		if len(s) == 0 {
			return nil
		}
	}
	return steps
}

// At is the type of an attribute, as far as it is declared; false when there can
// be no such attribute.
func (t StateType) At(name string) (StateType, bool) {
	if declared, ok := t.Attrs[name]; ok {
		return declared, true
	}
	return anyState, t.Attrs == nil || t.open
}

// TypeCache are those of schemas that were read already: ten thousand resources
// have a few.
type TypeCache struct {
	mu   sync.Mutex
	Read map[string]StateType // by the schema
}

// Of is the type that a schema gives.
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
