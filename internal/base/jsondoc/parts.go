package jsondoc

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// TopLevel returns the JSON pointers of the keys that object has and but does not,
// sorted.
func TopLevel(object, but json.RawMessage) []string {
	var keys, other map[string]json.RawMessage
	if json.Unmarshal(object, &keys) != nil || len(but) > 0 && json.Unmarshal(but, &other) != nil {
		return []string{""}
	}
	var pointers []string
	for _, key := range Keys(keys) {
		if _, there := other[key]; !there {
			pointers = append(pointers, JoinPointer([]string{key}))
		}
	}
	return pointers
}

// Keys returns the keys of an object, sorted.
func Keys[V any](object map[string]V) []string {
	if len(object) == 0 {
		return nil
	}
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Without returns a document without the values at the pointers: a pointer to an element
// of a list removes the whole list.
func Without(doc json.RawMessage, pointers []string) json.RawMessage {
	return without(doc, pointers, false)
}

// Blanked returns a document without the values at the pointers, in which an element of a list is
// null, so that the others keep their places.
func Blanked(doc json.RawMessage, pointers []string) json.RawMessage {
	return without(doc, pointers, true)
}

func without(doc json.RawMessage, pointers []string, lists bool) json.RawMessage {
	if len(pointers) == 0 || len(doc) == 0 {
		return doc
	}
	tree, err := Value(doc)
	if err != nil {
		return doc
	}
	for _, pointer := range pointers {
		at, steps := tree, Pointer(pointer)
		for i, step := range steps {
			if list, ok := at.([]any); ok && lists {
				n, err := strconv.Atoi(step)
				if err != nil || n < 0 || n >= len(list) {
					break
				}
				if i == len(steps)-1 {
					list[n] = nil
				}
				at = list[n]
				continue
			}
			object, ok := at.(map[string]any)
			if !ok {
				break
			}
			if deeper := goesOn(object[step], lists); i == len(steps)-1 || !deeper {
				delete(object, step)
				break
			}
			at = object[step]
		}
		if len(steps) == 0 {
			tree = map[string]any{}
		}
	}
	left, err := Encode(tree)
	if err != nil {
		return doc
	}
	return left
}

// goesOn reports whether values inside a value are removed alone.
func goesOn(v any, lists bool) bool {
	_, object := v.(map[string]any)
	_, list := v.([]any)
	return object || list && lists
}

// Filled returns an object plus the members of another object that it does not have.
func Filled(object, others json.RawMessage) (json.RawMessage, error) {
	if len(others) == 0 {
		return object, nil
	}
	all, err := OwnObject(others)
	if err != nil {
		return nil, err
	}
	said, err := Object(object)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, said)
	return Encode(all)
}
