package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Of returns the schema of a struct, or of any object for a map. written: it is of what encoding/json
// writes, where nil lists and maps are null, and tags do not count.
func Of(t reflect.Type, written bool) (map[string]any, error) {
	if t.Kind() == reflect.Map || t.Kind() == reflect.Interface {
		return map[string]any{"type": "object"}, nil
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct: a config and a state are objects", t)
	}
	m := schemaMaker{written: written}
	schema, err := m.object(t)
	if err != nil {
		return nil, fmt.Errorf("the fields of %s do not give a schema: %w", t, err)
	}
	return schema, nil
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
		return nil, fmt.Errorf("%s contains itself, for which no schema can be generated; write one by hand", t)
	}
	m.open = append(m.open, t)
	defer func() { m.open = m.open[:len(m.open)-1] }()
	properties, required := map[string]any{}, []string{}
	for _, f := range Fields(t) {
		s, err := m.field(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		properties[f.Name] = s
		if !f.Optional && (m.written || f.Tag.Get("default") == "") && (m.written || f.Type.Kind() != reflect.Pointer) {
			required = append(required, f.Name)
		}
	}
	out := shape{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}

func (m *schemaMaker) field(f Field) (shape, error) {
	s, err := m.of(f.Type)
	if err != nil {
		return nil, err
	}
	if f.AsText {
		s = shape{"type": "string"}
	}
	if doc := f.Tag.Get("doc"); doc != "" {
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

// Field is one member of the object that a struct becomes.
type Field struct {
	Name     string
	Type     reflect.Type
	Tag      reflect.StructTag
	Optional bool // encoding/json omits it when empty
	AsText   bool // a number or a bool that is written as a string
}

// Fields returns the members of a struct, named by encoding/json's rules; members
// of embedded structs count as the struct's own.
func Fields(t reflect.Type) []Field {
	var out []Field
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
			out = append(out, Fields(inner)...)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		out = append(out, Field{Name: name, Type: f.Type, Tag: f.Tag, Optional: has("omitempty") || has("omitzero"), AsText: has("string")})
	}
	return out
}

// Members returns the members of a struct by their names; nil for other types, and
// for types that encode their JSON themselves.
func Members(t reflect.Type) map[string]Field {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || t == timeType || reflect.PointerTo(t).Implements(jsonType) {
		return nil
	}
	out := map[string]Field{}
	for _, f := range Fields(t) {
		out[f.Name] = f
	}
	return out
}

// Element returns the type of the elements of a list or a map; nil = unknown.
func Element(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map) {
		return t.Elem()
	}
	return nil
}

// FieldNames returns the set of the member names of a struct; empty for other types.
func FieldNames(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	if t.Kind() == reflect.Struct {
		for _, f := range Fields(t) {
			names[f.Name] = true
		}
	}
	return names
}

// noFields is a struct without marked fields.
var noFields = reflect.TypeFor[struct{}]()

// StructOf returns the struct in a field: its type itself, or the struct behind pointers, lists and maps.
func StructOf(t reflect.Type) reflect.Type {
	for {
		switch t.Kind() {
		case reflect.Struct:
			return t
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return noFields
		}
	}
}
