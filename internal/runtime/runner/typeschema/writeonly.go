package typeschema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"deployster/internal/base/jsondoc"
)

// WriteOnly returns the parts of a config or a state that its schema marks writeOnly:
// values such as passwords, which are sensitive whatever the manifest declares. It returns
// their JSON pointers, sorted. If the schema needs too many steps to search, WriteOnly
// returns the whole document.
func (s *Schemas) WriteOnly(schema, document json.RawMessage) []string {
	return s.marked(schema, document, writeOnly)
}

// Unrecorded returns the parts of a config that its schema marks x-unrecorded: values that
// are in no state file. It returns their JSON pointers as WriteOnly does.
func (s *Schemas) Unrecorded(schema, document json.RawMessage) []string {
	return s.marked(schema, document, unrecorded)
}

// The keywords that mark values.
const (
	writeOnly  = "writeOnly"
	unrecorded = "x-unrecorded"
)

// marked returns the parts of a document that its schema marks with a keyword.
func (s *Schemas) marked(schema, document json.RawMessage, keyword string) []string {
	if !mayHave(schema, keyword) {
		return nil
	}
	read := s.schema(schema)
	if read.err != nil {
		return nil
	}
	root := read.document
	value, err := jsondoc.Value(document)
	if err != nil {
		return nil
	}
	w := markFinder{keyword: keyword, root: root, limit: maxSchemaSteps, seen: map[visit]bool{}, patterns: map[string]*regexp.Regexp{}}
	return w.find(value)
}

// MayMark reports whether a schema may contain the keyword writeOnly, written plainly
// or with escapes such as \u. Most schemas contain neither, and need no search for each
// resource.
func MayMark(schema json.RawMessage) bool {
	return mayHave(schema, writeOnly)
}

func mayHave(schema json.RawMessage, keyword string) bool {
	return bytes.Contains(schema, []byte(keyword)) || bytes.Contains(schema, []byte(`\u`))
}

// visit is the application of a schema, identified by its pointer, to a place of the config.
type visit struct {
	schema uintptr
	path   string
}

// pending is a schema that must still be applied to a value.
type pending struct {
	schema, value any
	path          []string
}

type markFinder struct {
	keyword string
	root    any
	limit   int // of steps
	seen    map[visit]bool
	todo    []pending
	found   []string

	patterns map[string]*regexp.Regexp
}

// maxSchemaSteps limits the steps of find, for schemas whose work multiplies with the size of the config.
const maxSchemaSteps = 1 << 20

// find applies a schema to a value. It applies each schema to each place once, so that
// cycles of references end, and branches that join do not multiply the work. It uses a
// list of pending work instead of recursion, so that long chains of references do not
// exhaust the stack.
func (w *markFinder) find(value any) []string {
	w.later(w.root, value, nil)
	for steps := 0; len(w.todo) > 0; steps++ {
		if steps >= w.limit {
			return w.whole("")
		}
		last := len(w.todo) - 1
		next := w.todo[last]
		w.todo = w.todo[:last]
		w.step(next)
	}
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

// whole returns a value that may have a mark somewhere. It is hidden, but it is recorded:
// without its config an object cannot be destroyed.
func (w *markFinder) whole(pointer string) []string {
	if w.keyword == writeOnly {
		return []string{pointer}
	}
	return nil
}

// later adds a schema to the list, unless it is a boolean, which marks nothing.
func (w *markFinder) later(schema, value any, path []string) {
	if _, ok := schema.(map[string]any); ok {
		w.todo = append(w.todo, pending{schema, value, path})
	}
}

func (w *markFinder) step(p pending) {
	s := p.schema.(map[string]any)
	pointer := jsondoc.JoinPointer(p.path)
	place := visit{reflect.ValueOf(s).Pointer(), pointer}
	if w.seen[place] {
		return
	}
	w.seen[place] = true
	if s[w.keyword] == true {
		w.found = append(w.found, pointer)
		return
	}
	w.references(s, p, pointer)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := s[key].([]any)
		for _, branch := range branches {
			w.later(branch, p.value, p.path)
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		w.later(s[key], p.value, p.path)
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		branches, _ := s[key].(map[string]any)
		for _, branch := range branches {
			w.later(branch, p.value, p.path)
		}
	}
	switch value := p.value.(type) {
	case map[string]any:
		for name, inner := range value {
			for _, schema := range w.ofProperty(s, name) {
				w.later(schema, inner, append(slices.Clip(p.path), name))
			}
		}
	case []any:
		for i, inner := range value {
			for _, schema := range ofItem(s, i) {
				w.later(schema, inner, append(slices.Clip(p.path), strconv.Itoa(i)))
			}
		}
	}
}

// references follows the references of a schema. A reference that does not resolve may
// lead to a mark: the whole value is then taken for sensitive.
func (w *markFinder) references(s map[string]any, p pending, pointer string) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := s[key].(string)
		if !ok {
			continue
		}
		target := jsondoc.Reference(w.root, ref)
		if target == nil {
			w.found = append(w.found, w.whole(pointer)...)
		}
		w.later(target, p.value, p.path)
	}
}

// ofProperty returns the schemas that apply to a property: by its name and by patterns
// of names, or else the schemas for all other properties.
func (w *markFinder) ofProperty(s map[string]any, name string) []any {
	var schemas []any
	properties, _ := s["properties"].(map[string]any)
	if property, declared := properties[name]; declared {
		schemas = append(schemas, property)
	}
	byPattern, _ := s["patternProperties"].(map[string]any)
	for pattern, property := range byPattern {
		if w.matches(pattern, name) {
			schemas = append(schemas, property)
		}
	}
	if len(schemas) == 0 {
		schemas = append(schemas, s["additionalProperties"], s["unevaluatedProperties"])
	}
	return schemas
}

// matches reports whether a name matches a pattern. A pattern that does not compile matches each name.
func (w *markFinder) matches(pattern, name string) bool {
	compiled, there := w.patterns[pattern]
	if !there {
		compiled, _ = regexp.Compile(pattern)
		w.patterns[pattern] = compiled
	}
	return compiled == nil || compiled.MatchString(name)
}

// ofItem returns the schemas that apply to an item of a list: by its position, or else those for all other items.
func ofItem(s map[string]any, i int) []any {
	schemas := []any{s["contains"]}
	for _, key := range []string{"prefixItems", "items"} {
		if list, _ := s[key].([]any); i < len(list) {
			return append(schemas, list[i])
		}
	}
	return append(schemas, s["items"], s["additionalItems"], s["unevaluatedItems"])
}
