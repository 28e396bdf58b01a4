package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
)

// RequirePolicy names the file of policies that hold on this machine, whatever manifests declare.
const RequirePolicy = "DEPLOYSTER_REQUIRE_POLICY"

// RequiredPolicies reads the policies that the environment requires; nil = none.
func (r Reader) RequiredPolicies() (*config.Manifest, error) {
	name := r.options.Env(RequirePolicy)
	if name == "" {
		return nil, nil
	}
	return r.PolicyFile(RequirePolicy, name)
}

// PolicyFile reads a file of policies that from names.
func (r Reader) PolicyFile(from, name string) (*config.Manifest, error) {
	content, err := config.ReadSource(r.options.Path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read the policies", "%s names %s: %s. Nothing is planned or applied without them.", from, name, err)
	}
	dir := filepath.Dir(r.options.Path(name))
	m, diags := config.Load(config.Sources{Workspace: r.options.Dir, Dir: dir, Manifests: []config.File{{Path: name, Bytes: content}}}, nil,
		r.options.builtins(r.planned))
	if !diags.HasErrors() {
		diags = append(diags, notPolicies(m)...)
	}
	if !diags.HasErrors() && len(m.Policies().List) == 0 {
		diags = append(diags, diag.Errorf("No policies", "%s names %s, which declares no policy.", from, name))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	r.options.Secrets.Add(m.Secrets())
	return m, nil
}

// PoliciesIn reads the policies that the manifests of a directory declare.
func (r Reader) PoliciesIn(dir string) (*config.Manifest, error) {
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
	m, diags, wrong := r.withVariables(sources, dir)
	if diags = append(wrong, diags...); diags.HasErrors() {
		return nil, diags
	}
	if len(m.Policies().List) == 0 {
		return nil, diag.Errorf("No policies", "The manifests in %s declare no policy.", dir)
	}
	r.options.Secrets.Add(m.Secrets())
	return m, nil
}

// notPolicies returns an error for each block other than policies, types, variables and local values.
func notPolicies(m *config.Manifest) (diags diag.Diagnostics) {
	refuse := func(what string, at *diag.Range) {
		diags = append(diags, m.Diagnose(diag.Errorf("Not a policy", "A file of policies has policy blocks, and the types, variables "+
			"with defaults and local values that they use. %s cannot stand in it.", what), at))
	}
	for _, address := range m.Blocks() {
		var at *diag.Range // that of an instance, if there is one
		for _, r := range m.Resources() {
			if r.Address == address || strings.HasPrefix(r.Address, address+"[") {
				at = &r.Range
			}
		}
		refuse("The block "+address, at)
	}
	if s := m.Settings(); s.StateAt != nil || s.Encryption != nil {
		refuse("A deployster block", s.StateAt)
	}
	return diags
}
