package values

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/secretref"
)

// secretOf is the mark of what stands for the value of a secret block.
type secretOf struct{ name string }

// SecretText returns what expressions get in place of the value of a secret.
func SecretText(name string) cty.Value {
	return cty.StringVal(secretref.Text(name)).Mark(Sensitive{}).Mark(secretOf{name})
}

// ErrComputed is the error for a value that was computed from a secret.
var ErrComputed = errors.New("it is computed from a secret, whose value is not known while manifests are read. Use the secret alone or " +
	"within a text, and let its image print what is needed")

// MayHoldSecrets reports whether CheckSecrets is needed for a value with these marks that was written as a document: it
// is much faster.
func MayHoldSecrets(marks []cty.PathValueMarks, document []byte) bool {
	return secretref.In(document) || slices.ContainsFunc(marks, func(pm cty.PathValueMarks) bool { return len(namesIn(pm)) > 0 })
}

// CheckSecrets returns an error, and the JSON pointer to its place, if a part of a value was computed from a secret, or
// names one that it did not come from.
func CheckSecrets(v cty.Value) (pointer string, err error) {
	plain, marks := v.UnmarkDeepWithPaths()
	marked := slices.ContainsFunc(marks, func(pm cty.PathValueMarks) bool {
		return slices.ContainsFunc(namesIn(pm), func(string) bool { return true })
	})
	found := map[string][]string{} // by the pointer of each text
	_ = cty.Walk(plain, func(p cty.Path, part cty.Value) (bool, error) {
		if part.Type() != cty.String || !part.IsKnown() || part.IsNull() {
			return true, nil
		}
		if names := secretref.Names(part.AsString()); len(names) > 0 {
			found[PathPointer(plain, p)] = names
		}
		return true, nil
	})
	if !marked && len(found) == 0 {
		return "", nil
	}
	given := map[string][]string{}
	for _, pm := range marks {
		at := PathPointer(v, pm.Path)
		for _, name := range namesIn(pm) {
			given[at] = append(given[at], name)
			if part, err := pm.Path.Apply(plain); err == nil && part.IsWhollyKnown() && !slices.Contains(found[at], name) {
				return at, ErrComputed
			}
		}
	}
	for at, names := range found {
		for _, name := range names {
			if !slices.Contains(given[at], name) {
				return at, fmt.Errorf("it has the text that stands for secret.%s.value, and no secret is used there", name)
			}
		}
	}
	return "", nil
}

func namesIn(pm cty.PathValueMarks) (names []string) {
	for mark := range pm.Marks {
		if s, is := mark.(secretOf); is {
			names = append(names, s.name)
		}
	}
	return names
}
