package protocol

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// SchemaOf returns the JSON Schema of a config, derived from the fields of a struct.
// The names are those of encoding/json, other properties are not allowed. A field
// is required unless it is a pointer, has omitempty or omitzero, or a default.
// Tags add constraints:
//
//	doc:"what it is for"
//	default:"text or JSON"     filled in by Serve if the user leaves it out; of fields and fields of structs in them
//	enum:"small,large"
//	pattern:"^[a-z]+$"  format:"ipv4"  minLength:"1"  maxLength:"63"
//	minimum:"1"  maximum:"65535"
//	minItems:"1"  maxItems:"8"
//	writeOnly:"true"           a secret: deployster never shows it
//	deployster:"identity"      part of the identity: with another value, the config describes another thing
//	deployster:"computed"      left out, it may have any value; other fields that are left out must be unset
//
// On a list, the tags from enum to maximum apply to its items. SchemaOf returns an
// error if a field has a type without JSON, or a tag that does not fit its type.
func SchemaOf[C any]() (json.RawMessage, error) {
	return schemaOf(reflect.TypeFor[C](), false)
}

// stateSchemaOf returns the schema of what encoding/json writes for an S, where nil
// lists and maps are null.
func stateSchemaOf[S any]() (json.RawMessage, error) {
	return schemaOf(reflect.TypeFor[S](), true)
}

func schemaOf(t reflect.Type, written bool) (json.RawMessage, error) {
	if t.Kind() == reflect.Map || t.Kind() == reflect.Interface {
		return encode(map[string]any{"type": "object"})
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is no struct: a config and a state are objects", t)
	}
	m := schemaMaker{written: written}
	schema, err := m.object(t)
	if err != nil {
		return nil, fmt.Errorf("the fields of %s make no schema: %w", t, err)
	}
	return encode(schema)
}

// schemaMaker derives schemas from types.
type schemaMaker struct {
	written bool           // the schema is of what encoding/json writes, not of what a user may write
	open    []reflect.Type // the structs around the current field
}

// shape is a schema under construction: its keywords.
type shape map[string]any

func (m *schemaMaker) object(t reflect.Type) (shape, error) {
	if slices.Contains(m.open, t) {
		return nil, fmt.Errorf("%s holds itself, which no schema made here can say; give one by hand", t)
	}
	m.open = append(m.open, t)
	defer func() { m.open = m.open[:len(m.open)-1] }()
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		s, err := m.field(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		properties[f.name] = s
		if !f.optional && (m.written || f.tag.Get("default") == "") && (m.written || f.typ.Kind() != reflect.Pointer) {
			required = append(required, f.name)
		}
	}
	out := shape{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

func (m *schemaMaker) field(f field) (shape, error) {
	s, err := m.of(f.typ)
	if err != nil {
		return nil, err
	}
	if f.asText {
		s = shape{"type": "string"}
	}
	if doc := f.tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	if m.written {
		return s, nil // only the type constrains a state, not its tags
	}
	return s, constrain(s, f)
}

var (
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonType   = reflect.TypeFor[json.Unmarshaler]()
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
	rawType    = reflect.TypeFor[json.RawMessage]()
)

// of returns the schema of a type by itself.
func (m *schemaMaker) of(t reflect.Type) (shape, error) {
	switch {
	case t == timeType:
		return shape{"type": "string", "format": "date-time"}, nil
	case t == numberType:
		return shape{"type": "number"}, nil
	case t == rawType || t.Kind() == reflect.Interface:
		return shape{}, nil
	case t.Kind() == reflect.Pointer:
		s, err := m.of(t.Elem())
		return m.orNull(s), err
	case reflect.PointerTo(t).Implements(jsonType):
		return shape{}, nil // only the type itself knows its JSON
	case reflect.PointerTo(t).Implements(textType):
		return shape{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return shape{"type": "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integer(t, t.Bits() < 64, false), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer(t, t.Bits() < 64, true), nil
	case reflect.Float32, reflect.Float64:
		return shape{"type": "number"}, nil
	case reflect.String:
		return shape{"type": "string"}, nil
	case reflect.Slice, reflect.Array:
		return m.list(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("the keys of a map must be strings, not %s", t.Key())
		}
		s, err := m.of(t.Elem())
		return m.orNull(shape{"type": "object", "additionalProperties": s}), err
	case reflect.Struct:
		return m.object(t)
	}
	return nil, fmt.Errorf("there is no JSON for a %s", t)
}

func (m *schemaMaker) list(t reflect.Type) (shape, error) {
	if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
		return m.orNull(shape{"type": "string", "contentEncoding": "base64"}), nil
	}
	s, err := m.of(t.Elem())
	out := shape{"type": "array", "items": s}
	if t.Kind() == reflect.Array {
		out["minItems"], out["maxItems"] = t.Len(), t.Len()
		return out, err
	}
	return m.orNull(out), err
}

// orNull allows null in a schema of what encoding/json writes.
func (m *schemaMaker) orNull(s shape) shape {
	if kind, ok := s["type"].(string); ok && m.written {
		s["type"] = []string{kind, "null"}
	}
	return s
}

// integer returns the schema of an integer type, with its bounds if they are small enough to read.
func integer(t reflect.Type, bounded, unsigned bool) shape {
	s := shape{"type": "integer"}
	if unsigned {
		s["minimum"] = 0
	}
	if bounded && unsigned {
		s["maximum"] = uint64(1)<<t.Bits() - 1
	} else if bounded {
		s["minimum"], s["maximum"] = -(int64(1) << (t.Bits() - 1)), int64(1)<<(t.Bits()-1)-1
	}
	return s
}

// field is one member of the object that a struct becomes.
type field struct {
	name     string
	typ      reflect.Type
	tag      reflect.StructTag
	optional bool // encoding/json leaves it out when empty
	asText   bool // a number or a bool that is written as a string
}

// fieldsOf returns the members of a struct, named by encoding/json's rules; members
// of embedded structs count as the struct's own.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			out = append(out, fieldsOf(inner)...)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		out = append(out, field{name: name, typ: f.Type, tag: f.Tag, optional: has("omitempty") || has("omitzero"), asText: has("string")})
	}
	return out
}

// membersOf returns the members of a struct by their names; nil for other types, and
// for types that encode their JSON themselves.
func membersOf(t reflect.Type) map[string]field {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || t == timeType || reflect.PointerTo(t).Implements(jsonType) {
		return nil
	}
	out := map[string]field{}
	for _, f := range fieldsOf(t) {
		out[f.name] = f
	}
	return out
}

// elementOf returns the type of the elements of a list or a map; nil = unknown.
func elementOf(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map) {
		return t.Elem()
	}
	return nil
}

// fieldNames returns the set of the member names of a struct; empty for other types.
func fieldNames(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	if t.Kind() == reflect.Struct {
		for _, f := range fieldsOf(t) {
			names[f.name] = true
		}
	}
	return names
}
