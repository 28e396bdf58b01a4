package decl

import (
	"maps"
	"slices"

	"deployster/config/values"
)

// Missing is a variable that has no value.
type Missing struct {
	Name        string
	Type        string // as in a manifest; "" = any
	Description string
	Sensitive   bool // the typed value must not be shown
}

// Missing returns the variables whose missing values made Load fail, sorted by name.
func (t *Tree) Missing() []Missing {
	var out []Missing
	for _, name := range slices.Sorted(maps.Keys(t.Root.Variables)) {
		v := t.Root.Variables[name]
		if !v.missing {
			continue
		}
		w := Missing{Name: name, Sensitive: v.sensitive, Description: v.description}
		if v.typed {
			w.Type = values.TypeName(v.Typ)
		}
		out = append(out, w)
	}
	return out
}
