package secret

import (
	"encoding/json"
	"slices"
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

// Below returns the pointers of all leaves at or below the given pointers.
func Below(value json.RawMessage, pointers []string) []string {
	var found []string
	eachLeaf(value, pointers, func(path []string, _ any) {
		if isBelow(path, pointers) {
			found = append(found, jsondoc.JoinPointer(path))
		}
	})
	return found
}

// Find returns the pointers to the leaves of a value that contain a secret, sorted: for
// example a password that an image repeats in its state.
func Find(value json.RawMessage, secrets []string) []string {
	var found []string
	eachLeaf(value, secrets, func(path []string, leaf any) {
		if text := leafText(leaf); text != "" && holdsAny(text, secrets) {
			found = append(found, jsondoc.JoinPointer(path))
		}
	})
	slices.Sort(found)
	return found
}

// FindEnv returns the names of the environment variables whose values contain a secret,
// sorted.
func FindEnv(env map[string]string, secrets []string) []string {
	var names []string
	for name, value := range env {
		if holdsAny(value, secrets) {
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

func holdsAny(text string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool {
		return text == s || len(s) >= MinEmbedded && strings.Contains(text, s)
	})
}

// Cut shortens a JSON pointer to the first sensitive place on its way: the keys below it
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

// isBelow reports whether one of the pointers equals the path or is above it.
func isBelow(path, pointers []string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		steps := jsondoc.Pointer(p)
		return len(steps) <= len(path) && slices.Equal(steps, path[:len(steps)])
	})
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
