package config

import (
	"encoding/json"

	"deployster/config/decl"
)

// Variables are the variables of the root manifest.
type Variables struct{ tree *decl.Tree }

// Variables returns the variables of the manifest.
func (m *Manifest) Variables() Variables { return Variables{m.tree} }

// Missing returns the variables whose missing values made Load fail, sorted by name.
func (v Variables) Missing() []Missing { return v.tree.Vars.Missing() }

// Values returns the values with their types, for Pinned. Sensitive values are included
// in clear text.
func (v Variables) Values() map[string]json.RawMessage { return v.tree.Vars.Plain() }

// Origins returns where the values come from, except defaults: "vars.auto.hcl:3", "the
// environment variable X".
func (v Variables) Origins() map[string]string { return v.tree.Vars.Origins }

// Sensitive returns the names of the variables that are declared sensitive, sorted.
func (v Variables) Sensitive() []string { return v.tree.Vars.Sensitive() }
