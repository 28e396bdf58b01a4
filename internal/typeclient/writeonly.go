package typeclient

import (
	"encoding/json"
	"slices"
	"strconv"

	"deployster/internal/strictjson"
	"deployster/protocol"
)

// WriteOnly finds the parts of a config that the image's schema marks
// writeOnly: values such as passwords, which are sensitive whatever the
// manifest says. It gives their JSON pointers, sorted.
func WriteOnly(ty protocol.Type, config json.RawMessage) []string {
	if len(ty.ConfigSchema) == 0 {
		return nil
	}
	schema, err := strictjson.Value(ty.ConfigSchema)
	if err != nil {
		return nil
	}
	value, err := strictjson.Value(config)
	if err != nil {
		return nil
	}
	w := writeOnlyFinder{root: schema}
	w.visit(schema, value, nil, 0)
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

type writeOnlyFinder struct {
	root  any
	found []string
}

// maxSchemaSteps bounds references that lead in a circle.
const maxSchemaSteps = 64

// visit walks a schema and a value side by side.
func (w *writeOnlyFinder) visit(schema, value any, path []string, steps int) {
	s, ok := schema.(map[string]any)
	if !ok || steps > maxSchemaSteps {
		return
	}
	if s["writeOnly"] == true {
		w.found = append(w.found, strictjson.JoinPointer(path))
		return
	}
	if ref, ok := s["$ref"].(string); ok && len(ref) > 0 && ref[0] == '#' {
		w.visit(w.target(ref[1:]), value, path, steps+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := s[key].([]any)
		for _, branch := range branches {
			w.visit(branch, value, path, steps+1)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, inner := range value {
			below := append(slices.Clip(path), name)
			if property, declared := properties[name]; declared {
				w.visit(property, inner, below, steps+1)
			} else {
				w.visit(s["additionalProperties"], inner, below, steps+1)
			}
		}
	case []any:
		for i, inner := range value {
			w.visit(s["items"], inner, append(slices.Clip(path), strconv.Itoa(i)), steps+1)
		}
	}
}

// target is what a reference within the schema leads to.
func (w *writeOnlyFinder) target(pointer string) any {
	at := w.root
	for _, step := range strictjson.Pointer(pointer) {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[step]
	}
	return at
}
