package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The tag deployster:"identity" marks the fields of a config whose values together
// identify the object: a config with another value there describes another object, and
// one that differs elsewhere describes the same object.
//
// The tag deployster:"computed" marks an optional field whose value something else
// decides if the user omits it: it may then have any value.
const (
	ToolTag     = "deployster"
	IdentityTag = "identity"
	ComputedTag = "computed"
)

// constrain adds the constraints in the tags of a field to its schema.
func constrain(s shape, f Field) error {
	items := s
	if inner, ok := s["items"].(shape); ok {
		items = inner
	}
	for _, name := range []string{"pattern", "format"} {
		if text := f.Tag.Get(name); text != "" {
			if err := fits(name, items, "string"); err != nil {
				return err
			}
			items[name] = text
		}
	}
	for name, want := range map[string][]string{"minLength": {"string"}, "maxLength": {"string"}, "minimum": {"integer", "number"},
		"maximum": {"integer", "number"}} {
		if err := numberTag(items, f, name, want...); err != nil {
			return err
		}
	}
	for _, name := range []string{"minItems", "maxItems"} {
		if err := numberTag(s, f, name, "array"); err != nil {
			return err
		}
	}
	if list := f.Tag.Get("enum"); list != "" {
		var values []any
		for text := range strings.SplitSeq(list, ",") {
			value, err := literal(text, items)
			if err != nil {
				return fmt.Errorf("enum: %w", err)
			}
			values = append(values, value)
		}
		items["enum"] = values
	}
	if f.Tag.Get("writeOnly") == "true" {
		s["writeOnly"] = true
	}
	if text := f.Tag.Get("default"); text != "" {
		value, err := literal(text, s)
		if err != nil {
			return fmt.Errorf("default: %w", err)
		}
		s["default"] = value
		return setDefault(reflect.New(f.Type).Elem(), text)
	}
	return nil
}

func numberTag(s shape, f Field, name string, want ...string) error {
	text := f.Tag.Get(name)
	if text == "" {
		return nil
	}
	if err := fits(name, s, want...); err != nil {
		return err
	}
	if !json.Valid([]byte(text)) || strings.Trim(text, "+-.0123456789eE") != "" {
		return fmt.Errorf("%s is %q, and must be a number", name, text)
	}
	s[name] = json.Number(text)
	return nil
}

func fits(tag string, s shape, want ...string) error {
	if kind, _ := s["type"].(string); !slices.Contains(want, kind) {
		return fmt.Errorf("the tag %s is for fields of the type %s", tag, strings.Join(want, " or "))
	}
	return nil
}

// literal parses a value in a tag: text for a string, otherwise JSON.
func literal(text string, s shape) (any, error) {
	if s["type"] == "string" {
		return text, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("%q is not valid JSON", text)
	}
	return json.RawMessage(text), nil
}

// SetDefaults sets the defaults of a config before it is decoded. It skips structs
// behind pointers and in lists, which do not exist yet.
func SetDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() && !f.Anonymous || !v.Field(i).CanSet() {
			continue
		}
		if text := f.Tag.Get("default"); text != "" {
			_ = setDefault(v.Field(i), text) // Of reports its errors
			continue
		}
		SetDefaults(v.Field(i))
	}
}

func setDefault(v reflect.Value, text string) error {
	target := v
	for target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	raw := text
	if target.Kind() == reflect.String || target.Addr().Type().Implements(textType) {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		raw = string(quoted)
	}
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(target.Addr().Interface()); err != nil || dec.More() {
		return fmt.Errorf("default: %q is not a %s", text, target.Type())
	}
	return nil
}
