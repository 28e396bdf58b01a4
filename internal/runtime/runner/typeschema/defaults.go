package typeschema

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
)

// maxDefaults limits the steps in which defaults are added to one document. Defaults of objects
// may have defaults inside, and a hostile schema refers to itself there.
const maxDefaults = 10_000

// WithDefaults returns a document with the defaults of its schema: those of properties that
// are named outside of anyOf, oneOf and if, in objects that the document or another default
// has. A null in the document stays null. Without such a default, or with more of them than
// is sensible, it returns the document as it is.
func (s *Schemas) WithDefaults(schema, document json.RawMessage) json.RawMessage {
	if !mayHave(schema, `"default"`) {
		return document
	}
	read := s.schema(schema)
	value, err := jsondoc.Value(document)
	if read.err != nil || err != nil {
		return document
	}
	w := defaulter{propertyFinder: propertyFinder{root: read.document}, left: maxDefaults}
	w.complete(value, read.document)
	if w.added == 0 || w.left < 0 {
		return document
	}
	out, err := jsondoc.Encode(value)
	if err != nil {
		return document
	}
	return out
}

// defaulter adds defaults to a document.
type defaulter struct {
	propertyFinder
	left  int // steps
	added int
}

// complete adds the defaults that schemas have for the parts of a value.
func (w *defaulter) complete(value any, schemas ...any) {
	if w.left--; w.left < 0 {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		w.object(v, w.parts(schemas...))
	case []any:
		var items []any
		for _, part := range w.parts(schemas...) {
			if inner, one := part["items"].(map[string]any); one {
				items = append(items, inner)
			}
		}
		for _, element := range v {
			w.complete(element, items...)
		}
	}
}

// object adds the defaults of an object's members, and those inside of its members.
func (w *defaulter) object(object map[string]any, parts []map[string]any) {
	members := map[string][]any{}
	for _, part := range parts {
		properties, _ := part["properties"].(map[string]any)
		for name, inner := range properties {
			members[name] = append(members[name], inner)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, there := object[name]; !there {
			var p Property
			for _, part := range w.parts(members[name]...) {
				p.take(part)
			}
			if p.Default == nil {
				continue
			}
			value, err := jsondoc.Value(p.Default) // a copy: the schema is never changed
			if err != nil {
				continue
			}
			object[name] = value
			w.added++
		}
		w.complete(object[name], members[name]...)
	}
}
