package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// MaxSize is the largest schema that deployster reads, in bytes.
const MaxSize = 1 << 20

// worthSharing is the minimum length of a part of a schema that is written once and
// referred to.
const worthSharing = 160

// Shared encodes a schema so that equal parts are in $defs only once, under a hash of their
// content. tooLarge reports that the result would still be longer than MaxSize: then the
// returned schema accepts any document, and marks it as secret if any part of it is.
func Shared(s map[string]any) (text json.RawMessage, tooLarge bool, err error) {
	h := sharer{defs: map[string]any{}, uses: map[string]int{}, done: map[uintptr]any{}}
	root, ok := h.inside(s).(object)
	if err := h.err; err != nil || !ok {
		return nil, false, err
	}
	h.count(root)
	h.inline(root)
	for _, name := range slices.Sorted(maps.Keys(h.defs)) {
		h.inline(h.defs[name])
	}
	if len(h.defs) > 0 {
		root["$defs"] = h.defs
	}
	if text, err = json.Marshal(root); err != nil || len(text) <= MaxSize {
		return text, false, err
	}
	if secret(root) {
		return json.RawMessage(`{"writeOnly":true}`), true, nil
	}
	return json.RawMessage(`{}`), true, nil
}

// sharer moves parts of a schema to $defs.
type sharer struct {
	defs map[string]any // by the names in the references
	uses map[string]int
	done map[uintptr]any // the replacements of parts, each of which may occur in several places
	err  error
}

const reference = "$ref"
const defined = "#/$defs/"

// part returns the replacement of a part: a reference, if the part is long enough.
func (h *sharer) part(v any) any {
	s, ok := v.(object)
	if !ok {
		return h.inside(v)
	}
	at := reflect.ValueOf(s).Pointer()
	if known, ok := h.done[at]; ok {
		return known
	}
	inner := h.inside(s)
	text, err := json.Marshal(inner)
	if err != nil {
		h.err = err
		return inner
	}
	if len(text) >= worthSharing {
		sum := sha256.Sum256(text)
		name := hex.EncodeToString(sum[:6])
		h.defs[name] = inner
		inner = object{reference: defined + name}
	}
	h.done[at] = inner
	return inner
}

// inside returns a copy with its parts replaced.
func (h *sharer) inside(v any) any {
	switch x := v.(type) {
	case object:
		out := object{}
		for key, inner := range x {
			switch key {
			case "properties":
				members := object{}
				for name, member := range inner.(object) {
					members[name] = h.part(member)
				}
				out[key] = members
			case "items", "additionalProperties", "anyOf":
				out[key] = h.part(inner)
			default:
				out[key] = inner
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = h.part(x[i])
		}
		return out
	}
	return v
}

// count counts the references to each part.
func (h *sharer) count(root any) {
	each(root, func(name string, _ func(any)) { h.uses[name]++ })
	for _, part := range h.defs {
		each(part, func(name string, _ func(any)) { h.uses[name]++ })
	}
}

// inline puts parts with a single reference back in the place of that reference.
func (h *sharer) inline(in any) {
	each(in, func(name string, put func(any)) {
		if part := h.defs[name]; h.uses[name] == 1 && part != nil {
			delete(h.defs, name)
			put(part)
			h.inline(part)
		}
	})
}

// each calls visit for all references in a part.
func each(v any, visit func(name string, put func(any))) {
	at := func(inner any, put func(any)) {
		if s, ok := inner.(object); ok {
			if to, ok := s[reference].(string); ok {
				visit(to[len(defined):], put)
				return
			}
		}
		each(inner, visit)
	}
	switch x := v.(type) {
	case object:
		for key, inner := range x {
			at(inner, func(to any) { x[key] = to })
		}
	case []any:
		for i, inner := range x {
			at(inner, func(to any) { x[i] = to })
		}
	}
}

// secret reports whether any part of a schema is write-only.
func secret(v any) bool {
	switch x := v.(type) {
	case object:
		if x["writeOnly"] == true {
			return true
		}
		for _, inner := range x {
			if secret(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(x, secret)
	}
	return false
}
