package config

import "github.com/zclconf/go-cty/cty"

// Missing is a variable that has no value.
type Missing struct {
	Name        string
	Type        string // as in a manifest; "" = any
	Description string
	Sensitive   bool // what is typed for it must not be seen
}

// Missing returns the variables that kept Load from giving a manifest because
// nothing gives them a value, sorted by name.
func (m *Manifest) Missing() []Missing {
	var out []Missing
	for _, name := range sortedKeys(m.root.variables) {
		v := m.root.variables[name]
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

// Answered is the value that a person has typed for a variable; it is read like
// that of -var.
func Answered(name, text string) VarInput {
	return VarInput{Name: name, Origin: "what was typed for var." + name, text: text, value: cty.NilVal, strict: true}
}
