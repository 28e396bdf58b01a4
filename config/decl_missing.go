package config

import (
	"maps"
	"slices"
)

// Missing is a variable that has no value.
type Missing struct {
	Name        string
	Type        string // as in a manifest; "" = any
	Description string
	Sensitive   bool // what is typed for it must not be seen
}

// missing returns the variables that kept Load from giving a manifest because
// nothing gives them a value, sorted by name.
func (t *declTree) missing() []Missing {
	var out []Missing
	for _, name := range slices.Sorted(maps.Keys(t.root.variables)) {
		v := t.root.variables[name]
		if !v.missing {
			continue
		}
		w := Missing{Name: name, Sensitive: v.sensitive, Description: v.description}
		if v.typed {
			w.Type = typeName(v.typ)
		}
		out = append(out, w)
	}
	return out
}
