package config

import "slices"

// SensitiveVariables names the variables that are declared sensitive, sorted.
func (m *Manifest) SensitiveVariables() []string {
	var names []string
	for name, v := range m.declared.variables {
		if v.sensitive {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
