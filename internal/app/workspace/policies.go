package workspace

import (
	"os"
	"path/filepath"

	"deployster/config"
	"deployster/internal/base/diag"
)

// RequirePolicy names the file of policies that hold on this machine, whatever manifests declare.
const RequirePolicy = "DEPLOYSTER_REQUIRE_POLICY"

// RequiredPolicies reads the policies that the environment requires; nil = none.
func (a Around) RequiredPolicies() (*config.Manifest, error) {
	name := a.w.Env(RequirePolicy)
	if name == "" {
		return nil, nil
	}
	return a.PolicyFile(RequirePolicy, name)
}

// PolicyFile reads a file of policies that from names.
func (a Around) PolicyFile(from, name string) (*config.Manifest, error) {
	content, err := config.ReadSource(a.w.Path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read the policies", "%s names %s: %s. Nothing is planned or applied without them.", from, name, err)
	}
	dir := filepath.Dir(a.w.Path(name))
	m, diags := config.Load(config.Sources{Workspace: a.w.Dir, Dir: dir, Manifests: []config.File{{Path: name, Bytes: content}}}, nil,
		a.w.builtins())
	if !diags.HasErrors() {
		diags = append(diags, m.Policies().Alone()...)
	}
	if !diags.HasErrors() && len(m.Policies().List()) == 0 {
		diags = append(diags, diag.Errorf("No policies", "%s names %s, which declares no policy.", from, name))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	a.w.Secrets.Add(m.Secrets())
	return m, nil
}

// PoliciesIn reads the policies that the manifests of a directory declare.
func (a Around) PoliciesIn(dir string) (*config.Manifest, error) {
	sources, diags := config.Find(dir, nil, nil)
	if _, err := os.ReadDir(dir); err != nil {
		return nil, diag.Errorf("Unreadable directory", "The policies cannot be read: %s.", err)
	}
	if len(diags) == 1 && diags[0].Summary == config.NoManifest {
		return nil, diag.Errorf("No policies", "There is no manifest in %s: no file whose name ends in .hcl or .hcl.json.", dir)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	sources.Packages = a.w.Modules.kept(dir)
	inputs, diags := config.FindVariables(dir, a.w.Home, a.w.Environ, nil)
	m, more := config.Load(sources, inputs, a.w.builtins())
	if diags = append(diags, more...); diags.HasErrors() {
		return nil, diags
	}
	if len(m.Policies().List()) == 0 {
		return nil, diag.Errorf("No policies", "The manifests in %s declare no policy.", dir)
	}
	a.w.Secrets.Add(m.Secrets())
	return m, nil
}
