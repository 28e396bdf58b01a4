package config

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/expand"
	"deployster/config/limits"
	"deployster/config/policies"
	"deployster/config/source"
	"deployster/config/validate"
	"deployster/internal/base/diag"
)

// Load parses, checks and connects the manifests, and evaluates everything that does
// not depend on resources. The manifest is never nil; use it only if the diagnostics
// have no errors.
func Load(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return loadManifest(src, vars, b, false)
}

// Check is Load for commands that only inspect manifests: a variable without a value
// is unknown, rather than an error.
func Check(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return loadManifest(src, vars, b, true)
}

func loadManifest(src Sources, vars []VarInput, b Builtins, allowUnset bool) (*Manifest, diag.Diagnostics) {
	m := newManifest(src, b)
	m.tree.Vars.AllowUnset = allowUnset
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { list = loadInto(m.instances, m.tree, vars) }); failed != nil {
		return newManifest(src, b), diag.Diagnostics{failed}
	}
	return m, m.instances.Modules.Convert(list)
}

func newManifest(src Sources, b Builtins) *Manifest {
	set := source.New(src, b)
	tree := decl.New(set)
	return &Manifest{set: set, tree: tree, instances: expand.New(tree)}
}

// loadInto does the work of Load, in steps that each need the previous ones.
func loadInto(into *expand.Instances, tree *decl.Tree, vars []VarInput) hcl.Diagnostics {
	diags, goOn := tree.Load(vars)
	if !goOn {
		return diags
	}
	diags = append(diags, validate.Checker{Refs: tree.Refs}.Connect(tree.Root)...)
	diags = append(diags, into.Instantiate(diags.HasErrors())...)
	if !diags.HasErrors() {
		_, wrong := policies.Of(into.Modules)
		diags = append(diags, wrong...)
	}
	return diags
}
