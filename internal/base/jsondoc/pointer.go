package jsondoc

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Pointer splits a JSON pointer (RFC 6901) into its steps.
func Pointer(p string) []string {
	if p == "" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps
}

// JoinPointer is the opposite of Pointer.
func JoinPointer(steps []string) string {
	size := len(steps)
	for _, s := range steps {
		size += len(s)
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// Leaves visits the values of a decoded document that contain no others, with their paths.
func Leaves(v any, visit func(path []string, leaf any)) { leaves(v, nil, visit) }

func leaves(v any, path []string, visit func(path []string, leaf any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			leaves(inner, append(slices.Clip(path), key), visit)
		}
	case []any:
		for i, inner := range v {
			leaves(inner, append(slices.Clip(path), strconv.Itoa(i)), visit)
		}
	default:
		visit(path, v)
	}
}

// At returns the part of a decoded document to which the steps lead, or nil.
func At(v any, steps []string) any {
	for _, step := range steps {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// Reference returns the part of a JSON Schema to which a local $ref leads, or nil: it
// does not follow anchors and references to other documents.
func Reference(schema any, ref string) any {
	fragment, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	return At(schema, Pointer(pointer))
}
