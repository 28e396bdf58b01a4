package config

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/jsondoc"
)

// stateType is what a JSON Schema says of the type of a state. Where the schema
// leaves the type open it is cty.DynamicPseudoType: nothing is claimed that may
// turn out otherwise.
type stateType struct {
	typ cty.Type
	// loose is typ as it is when no attribute is left out that may be: that of an
	// element of a list, whose attributes are not counted before it is there.
	loose cty.Type
	// attrs are the declared attributes of an object, and open says that it may
	// have others. Its typ is dynamic when it is open, or may lack some.
	attrs map[string]stateType
	open  bool
}

var anyState = simple(cty.DynamicPseudoType)

func simple(t cty.Type) stateType { return stateType{typ: t, loose: t} }

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
func typeOfState(schema json.RawMessage) stateType {
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
var combining = []string{"anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef", "patternProperties", "propertyNames", "unevaluatedProperties", "prefixItems", "additionalItems"}

func (r *schemaReader) read(schema any, depth int) stateType {
	s, ok := schema.(map[string]any)
	if r.left--; !ok || depth > maxSchemaDepth || r.left < 0 {
		return anyState
	}
	if ref, ok := s["$ref"].(string); ok {
		target, found := r.find(ref)
		if len(s) > 1 || !found {
			return anyState
		}
		return r.read(target, depth+1)
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
		return simple(cty.String)
	case "integer", "number":
		return simple(cty.Number)
	case "boolean":
		return simple(cty.Bool)
	case "array":
		if item := r.read(s["items"], depth+1); !item.loose.HasDynamicTypes() {
			return simple(cty.List(item.loose))
		}
	}
	return anyState // several types, or one that may be null
}

// object reads the schema of an object: closed when it declares properties and
// says nothing of others.
func (r *schemaReader) object(s map[string]any, depth int) stateType {
	properties, declared := s["properties"].(map[string]any)
	out := anyState
	out.attrs, out.open = map[string]stateType{}, true
	types, loose, complete := map[string]cty.Type{}, map[string]cty.Type{}, true
	required, _ := s["required"].([]any)
	for name, p := range properties {
		out.attrs[name] = r.read(p, depth+1)
		types[name], loose[name] = out.attrs[name].typ, out.attrs[name].loose
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

// find follows a $ref within the document.
func (r *schemaReader) find(ref string) (any, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	at := r.root
	for _, key := range jsondoc.Pointer(pointer) {
		holder, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = holder[key]; !ok {
			return nil, false
		}
	}
	return at, true
}

// unknown is a state of which only the type is known, as far as references
// look into it: steps are what follows the state in each.
func (t stateType) unknown(steps []hcl.Traversal) cty.Value {
	if t.attrs == nil || len(steps) == 0 {
		return cty.UnknownVal(t.typ)
	}
	below := map[string][]hcl.Traversal{}
	for _, s := range steps {
		name := ""
		if len(s) > 0 {
			name = objectKey(s[0])
		}
		if name == "" {
			return cty.UnknownVal(t.typ) // all of it is looked at
		}
		below[name] = append(below[name], s[1:])
	}
	attrs := map[string]cty.Value{}
	for name, declared := range t.attrs {
		attrs[name] = declared.unknown(nonEmpty(below[name]))
	}
	for name := range below {
		if _, declared := t.attrs[name]; t.open && !declared {
			attrs[name] = cty.DynamicVal
		}
	}
	return cty.ObjectVal(attrs)
}

// nonEmpty gives traversals that all lead on, or none: when one ends here, the
// value as a whole is looked at.
func nonEmpty(steps []hcl.Traversal) []hcl.Traversal {
	for _, s := range steps {
		if len(s) == 0 {
			return nil
		}
	}
	return steps
}

// at is the type of an attribute, as far as it is declared; false when there can
// be no such attribute.
func (t stateType) at(name string) (stateType, bool) {
	if declared, ok := t.attrs[name]; ok {
		return declared, true
	}
	return anyState, t.attrs == nil || t.open
}

// stateTypes are those of schemas that were read already: ten thousand resources
// have a few.
type stateTypes struct {
	mu   sync.Mutex
	read map[string]stateType // by the schema
}

func (s *stateTypes) of(schema json.RawMessage) stateType {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.read[string(schema)]
	if !ok {
		t = typeOfState(schema)
		s.read[string(schema)] = t
	}
	return t
}
