package typeview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/ui/jsondiff"
)

// Property is one property of a schema, in a form for people.
type Property struct {
	Name        string   `json:"name"` // with its path from the top: net.port, list[], map.*
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Default     string   `json:"default,omitempty"` // as JSON
	Secret      bool     `json:"write_only,omitempty"`
	Rules       []string `json:"rules,omitempty"` // further constraints: "at least 1"
	Description string   `json:"description,omitempty"`
	depth       int
	leaf        string // the last part of Name
}

// The bounds of the list of a schema, which may refer to itself.
const (
	maxSchemaDepth = 8
	maxSchemaRows  = 1000
	maxTypeName    = 200 // bytes
)

// schemaRows returns the properties of a schema, those of nested objects below their own.
// open reports whether other properties are allowed too.
func schemaRows(raw json.RawMessage) (rows []Property, open bool) {
	if len(raw) == 0 {
		return nil, true
	}
	value, err := jsondoc.Value(raw)
	if err != nil {
		return nil, true
	}
	w := schemaWalker{root: value, open: map[uintptr]string{}, types: map[uintptr]string{}}
	top := w.resolve(value)
	w.object(top, "", 0)
	return w.rows, top["additionalProperties"] != false && value != false
}

type schemaWalker struct {
	root  any
	rows  []Property
	open  map[uintptr]string // the enclosing schemas, and their paths
	types map[uintptr]string // what typeOf has returned for a schema
}

// resolve follows references within the schema.
func (w *schemaWalker) resolve(v any) map[string]any {
	for range maxSchemaDepth {
		s, _ := v.(map[string]any)
		ref, ok := s["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return s
		}
		v = jsondoc.Reference(w.root, ref)
	}
	return nil
}

// object lists the properties of an object, including those of its allOf.
func (w *schemaWalker) object(s map[string]any, path string, depth int) {
	if depth > maxSchemaDepth || len(w.rows) > maxSchemaRows {
		return
	}
	id := reflect.ValueOf(s).Pointer()
	if at, within := w.open[id]; within {
		if n := len(w.rows); n > 0 && depth > 0 {
			w.rows[n-1].Rules = append(w.rows[n-1].Rules, "as "+cmp.Or(at, "the whole"))
		}
		return
	}
	w.open[id] = path
	defer delete(w.open, id)
	required := map[string]bool{}
	if list, ok := s["required"].([]any); ok {
		for _, name := range list {
			if text, ok := name.(string); ok {
				required[text] = true
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		w.property(w.resolve(properties[name]), path, jsondiff.Key(name), required[name], depth)
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok && len(more) > 0 {
		w.property(w.resolve(more), path, "*", false, depth)
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		w.property(w.resolve(patterns[pattern]), path, "/"+pattern+"/", false, depth)
	}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		w.object(w.resolve(part), path, depth+1)
	}
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (w *schemaWalker) property(s map[string]any, parent, leaf string, required bool, depth int) {
	path := below(parent, leaf)
	p := Property{Name: path, leaf: leaf, Type: w.typeOf(s), Required: required, Rules: rules(s), Secret: s["writeOnly"] == true,
		depth: depth}
	p.Description, _ = s["description"].(string)
	if value, ok := s["default"]; ok {
		p.Default = Inline(value)
	}
	w.rows = append(w.rows, p)
	if items := w.resolve(s["items"]); items != nil {
		w.object(items, path+"[]", depth+1)
	}
	w.object(s, path, depth+1)
}

// typeOf returns the types that a value may have: "string", "list of integer", "string or null".
// It returns "any" for a schema within itself, and instead of a text that is too long.
func (w *schemaWalker) typeOf(s map[string]any) string {
	id := reflect.ValueOf(s).Pointer()
	if name, known := w.types[id]; known {
		return name
	}
	w.types[id] = "any"
	if name := w.nameOf(s); len(name) <= maxTypeName {
		w.types[id] = name
	}
	return w.types[id]
}

// nameOf returns what typeOf returns for a schema that is requested the first time.
func (w *schemaWalker) nameOf(s map[string]any) string {
	var names []string
	switch kind := s["type"].(type) {
	case string:
		names = []string{kind}
	case []any:
		for _, k := range kind {
			names = append(names, fmt.Sprint(k))
		}
	}
	if i := slices.Index(names, "array"); i >= 0 {
		names[i] = "list"
		if items := w.resolve(s["items"]); items != nil {
			names[i] = "list of " + w.typeOf(items)
		}
	}
	if len(names) > 0 {
		return strings.Join(names, " or ")
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if forms, ok := s[keyword].([]any); ok {
			for _, form := range forms {
				names = append(names, w.typeOf(w.resolve(form)))
			}
			return strings.Join(slices.Compact(names), " or ")
		}
	}
	if s["properties"] != nil {
		return "object"
	}
	return "any"
}

// rules describes the keywords that constrain a value, and the items of a list.
func rules(s map[string]any) []string {
	var out []string
	add := func(keyword, words string) {
		if value, ok := s[keyword]; ok {
			out = append(out, fmt.Sprintf(words, Inline(value)))
		}
	}
	if list, ok := s["enum"].([]any); ok {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = Inline(v)
		}
		out = append(out, "one of "+strings.Join(words, ", "))
	}
	for _, keyword := range []string{"pattern", "format"} {
		if text, ok := s[keyword].(string); ok {
			out = append(out, keyword+" "+text)
		}
	}
	add("const", "always %s")
	bound := func(limit, exclusive, within, beyond string) {
		if only, draft04 := s[exclusive].(bool); !draft04 {
			add(exclusive, beyond)
		} else if only {
			within = beyond
		}
		add(limit, within)
	}
	bound("minimum", "exclusiveMinimum", "at least %s", "more than %s")
	bound("maximum", "exclusiveMaximum", "at most %s", "less than %s")
	add("multipleOf", "a multiple of %s")
	add("minLength", "characters: at least %s")
	add("maxLength", "characters: at most %s")
	add("minItems", "items: at least %s")
	add("maxItems", "items: at most %s")
	if s["uniqueItems"] == true {
		out = append(out, "no item twice")
	}
	if items, ok := s["items"].(map[string]any); ok {
		for _, rule := range rules(items) {
			out = append(out, "each: "+rule)
		}
	}
	return out
}

// Inline returns a value of a schema on one line.
func Inline(v any) string {
	b, err := jsondoc.Encode(v)
	if err != nil {
		return "?"
	}
	return string(b)
}
