package config

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/diag"
)

// Load parses, checks and connects the manifests, and evaluates all that does
// not depend on resources. The manifest is never nil; it is to be used only
// when the diagnostics have no errors.
func Load(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return loadManifest(src, vars, b, false)
}

// Check is Load for who only looks at manifests: a variable that has no value
// is unknown, rather than an error.
func Check(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return loadManifest(src, vars, b, true)
}

func loadManifest(src Sources, vars []VarInput, b Builtins, allowUnset bool) (*Manifest, diag.Diagnostics) {
	m := newManifest(src, b)
	m.tree.allowUnset = allowUnset
	var list hcl.Diagnostics
	if failed := guard(func() { list = m.load(vars) }); failed != nil {
		return newManifest(src, b), diag.Diagnostics{failed}
	}
	return m, m.in.convert(list)
}

func newManifest(src Sources, b Builtins) *Manifest {
	set := newSourceSet(src, b)
	tree := newDeclTree(set)
	return &Manifest{set: set, tree: tree, in: newInstances(tree)}
}

// load does the work of Load, in steps that each need the ones before.
func (m *Manifest) load(vars []VarInput) hcl.Diagnostics {
	diags, goOn := m.tree.load(vars)
	if !goOn {
		return diags
	}
	diags = append(diags, checker{m.tree.refs}.connect(m.tree.root)...)
	return append(diags, m.in.instantiate(diags.HasErrors())...)
}
