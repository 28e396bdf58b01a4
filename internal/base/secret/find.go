package secret

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"deployster/internal/base/jsondoc"
)

// MinEmbedded is the minimum length, in bytes, of a secret that is also searched for
// inside longer texts.
const MinEmbedded = 4

// Values returns the text of every value at or below the pointers: strings unchanged,
// numbers as they are written. Booleans, null and the empty string are left out: they
// could not be recognised as secrets.
func Values(value json.RawMessage, pointers []string) []string {
	var secrets []string
	eachLeaf(value, pointers, func(path []string, leaf any) {
		if text := leafText(leaf); text != "" && isBelow(path, pointers) {
			secrets = append(secrets, text)
		}
	})
	slices.Sort(secrets)
	return slices.Compact(secrets)
}

// Below returns those of the pointers that lead to a value, sorted. The keys below it may
// contain secrets too, so no pointer into it is returned.
func Below(value json.RawMessage, pointers []string) []string {
	if len(pointers) == 0 {
		return nil
	}
	var found []string
	eachPart(value, func(path []string, _ any) (inside bool) {
		if isBelow(path, pointers) {
			found = append(found, jsondoc.JoinPointer(path))
			return false
		}
		return true
	})
	slices.Sort(found)
	return found
}

// Find returns the pointers to the leaves of a value that contain a secret, and to the
// objects with a key that contains one, sorted: for example to a password that an image
// repeats in its state. There is no pointer into what another one leads to.
func Find(value json.RawMessage, secrets []string) []string {
	if len(value) == 0 || len(secrets) == 0 {
		return nil
	}
	return FindWith(value, NewHider(secrets))
}

// FindWith is Find for the secrets of several Hiders. It reads no value where they have none.
func FindWith(value json.RawMessage, hiders ...*Hider) []string {
	if !slices.ContainsFunc(hiders, (*Hider).hasAny) {
		return nil
	}
	var found []string
	holdsAny := func(text string) bool {
		return slices.ContainsFunc(hiders, func(h *Hider) bool { return h.Holds(text) })
	}
	eachPart(value, func(path []string, part any) (inside bool) {
		has := false
		switch part := part.(type) {
		case map[string]any:
			for key := range part {
				has = has || len(key) >= MinEmbedded && holdsAny(key)
			}
		case []any:
		default:
			text := leafText(part)
			has = text != "" && holdsAny(text)
		}
		if has {
			found = append(found, jsondoc.JoinPointer(path))
		}
		return !has
	})
	slices.Sort(found)
	return found
}

// FindEnv returns the names of the environment variables whose values contain a secret,
// sorted.
func FindEnv(env map[string]string, hider *Hider) []string {
	var names []string
	for name, value := range env {
		if hider.Holds(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Touches reports whether a path equals one of the pointers, or is above or below one.
func Touches(pointers []string, path string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		return p == path || p == "" || path == "" || strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/")
	})
}

// Cut shortens a JSON pointer to the first sensitive place in it: the keys below it
// may contain secrets.
func Cut(pointer string, sensitive []string) string {
	steps := jsondoc.Pointer(pointer)
	for i := range steps {
		if above := jsondoc.JoinPointer(steps[:i]); slices.Contains(sensitive, above) {
			return above
		}
	}
	return pointer
}

// CutAll applies Cut to several pointers, and sorts them.
func CutAll(pointers, sensitive []string) []string {
	if len(sensitive) == 0 {
		return pointers
	}
	var out []string
	for _, p := range pointers {
		out = append(out, Cut(p, sensitive))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// HidePath shortens a JSON pointer that an image wrote to the part before the first secret.
// An image may write a secret into it with and without the escapes of pointers.
func HidePath(pointer string, hide func(string) string) string {
	shown := hide(pointer)
	if at := strings.Index(shown, Masked); shown != pointer && at >= 0 {
		return pointer[:max(0, strings.LastIndex(pointer[:at], "/"))]
	}
	steps := jsondoc.Pointer(pointer)
	for i, step := range steps {
		if hide(step) != step {
			return jsondoc.JoinPointer(steps[:i])
		}
	}
	return pointer
}

// isBelow reports whether one of the pointers equals the path or is above it.
func isBelow(path, pointers []string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		steps := jsondoc.Pointer(p)
		return len(steps) <= len(path) && slices.Equal(steps, path[:len(steps)])
	})
}

// eachPart visits a JSON value and its parts. It visits the parts of a part after it, if visit
// reports that.
func eachPart(value json.RawMessage, visit func(path []string, part any) (inside bool)) {
	if len(value) == 0 {
		return
	}
	if tree, err := jsondoc.Value(value); err == nil {
		walk(tree, nil, visit)
	}
}

func walk(part any, path []string, visit func(path []string, part any) (inside bool)) {
	if !visit(path, part) {
		return
	}
	switch part := part.(type) {
	case map[string]any:
		for key, inner := range part {
			walk(inner, append(slices.Clip(path), key), visit)
		}
	case []any:
		for i, inner := range part {
			walk(inner, append(slices.Clip(path), strconv.Itoa(i)), visit)
		}
	}
}

// eachLeaf visits the leaves of a JSON value, if there is anything to search for.
func eachLeaf(value json.RawMessage, wanted []string, visit func(path []string, leaf any)) {
	if len(value) == 0 || len(wanted) == 0 {
		return
	}
	if tree, err := jsondoc.Value(value); err == nil {
		jsondoc.Leaves(tree, visit)
	}
}

func leafText(leaf any) string {
	switch leaf := leaf.(type) {
	case string:
		return leaf
	case json.Number:
		return leaf.String()
	}
	return ""
}
