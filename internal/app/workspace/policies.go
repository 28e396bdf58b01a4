package workspace

import (
	"path/filepath"

	"deployster/config"
	"deployster/internal/base/diag"
)

// RequirePolicy names the file of policies that hold on this machine, whatever manifests declare.
const RequirePolicy = "DEPLOYSTER_REQUIRE_POLICY"

// RequiredPolicies reads the policies that the environment requires; nil = none.
func RequiredPolicies(w *Workspace) (*config.Manifest, error) {
	name := w.Env(RequirePolicy)
	if name == "" {
		return nil, nil
	}
	return PolicyFile(w, RequirePolicy, name)
}

// PolicyFile reads a file of policies that from names.
func PolicyFile(w *Workspace, from, name string) (*config.Manifest, error) {
	content, err := config.ReadSource(w.Path(name))
	if err != nil {
		return nil, diag.Errorf("Cannot read the policies", "%s names %s: %s. Nothing is planned or applied without them.", from, name, err)
	}
	dir := filepath.Dir(w.Path(name))
	m, diags := config.Load(config.Sources{Workspace: w.Dir, Dir: dir, Manifests: []config.File{{Path: name, Bytes: content}}}, nil,
		w.builtins())
	if !diags.HasErrors() {
		diags = append(diags, config.OnlyPolicies(m)...)
	}
	if !diags.HasErrors() && len(m.Policies()) == 0 {
		diags = append(diags, diag.Errorf("No policies", "%s names %s, which declares no policy.", from, name))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	w.Secrets.Add(m.Secrets())
	return m, nil
}

// PoliciesIn reads the policies that the manifests of a directory declare.
func PoliciesIn(w *Workspace, dir string) (*config.Manifest, error) {
	sources, diags := config.Find(dir, nil, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	inputs, diags := config.FindVariables(dir, w.Home, w.Environ, nil)
	m, more := config.Load(sources, inputs, w.builtins())
	if diags = append(diags, more...); diags.HasErrors() {
		return nil, diags
	}
	if len(m.Policies()) == 0 {
		return nil, diag.Errorf("No policies", "The manifests in %s declare no policy.", dir)
	}
	w.Secrets.Add(m.Secrets())
	return m, nil
}

// PoliciesAround returns the manifest of the workspace for its policies, for a command that plans without it; nil = it has
// none. It uses the values of variables that files and the environment give.
func PoliciesAround(w *Workspace) (*config.Manifest, error) {
	sources, diags := config.Find(w.Dir, nil, nil)
	if diags.HasErrors() {
		return nil, nil
	}
	inputs, _ := config.FindVariables(w.Dir, w.Home, w.Environ, nil)
	m, diags := config.Load(sources, inputs, w.builtins())
	if !config.DeclaresPolicies(m) {
		return nil, nil
	}
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The policies here cannot be read",
			"They judge this plan too, and their manifests have errors. "+
				"Variables get values from files and from the environment here."))
	}
	w.Secrets.Add(m.Secrets())
	return m, nil
}
