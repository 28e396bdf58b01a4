package workspace

import (
	"deployster/config"
	"deployster/internal/base/diag"
)

// Around reads manifests that a command does not work on, but that it is held to, or uses something of: those of the
// workspace, and files of policies.
type Around struct{ w *Workspace }

// Around returns what reads manifests that a command does not work on.
func (w *Workspace) Around() Around { return Around{w} }

// load reads the manifests of the workspace with the values of variables that files and the environment give; nil = there are
// none.
func (a Around) load() (*config.Manifest, diag.Diagnostics) {
	sources, diags := config.Find(a.w.Dir, nil, nil)
	if diags.HasErrors() {
		return nil, nil
	}
	sources.Packages = a.w.Modules.kept(a.w.Dir)
	inputs, _ := config.FindVariables(a.w.Dir, a.w.Home, a.w.Environ, nil)
	return config.Load(sources, inputs, a.w.builtins())
}

// Needed reads the manifests of the workspace for a command that queries what they need; nil = there are none.
func (a Around) Needed() (*config.Manifest, error) {
	m, diags := a.load()
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The manifests here cannot be read", "Their images are unknown. Fix them first, or choose "+
			"another directory with -chdir."))
	}
	return m, nil
}

// Remotes returns what reads the outputs of other states.
func (a Around) Remotes() Remotes { return Remotes{a.w.Options, a.w.named, a.w.Place} }

// Plugs returns the plugs that the manifests of the workspace declare.
func (a Around) Plugs() []config.Plug {
	if m := a.w.UseKeys(); m != nil {
		return m.Plugs()
	}
	return nil
}

// Types returns the types that the manifests of the workspace declare.
func (a Around) Types() []config.Type {
	m, _ := a.load()
	if m == nil {
		return nil
	}
	return m.Types().All()
}

// Secrets returns the secret blocks of the manifests of the workspace, if these can be read.
func (a Around) Secrets() []config.Secret {
	m, diags := a.load()
	if m == nil || diags.HasErrors() {
		return nil
	}
	a.w.Secrets.Add(m.Secrets())
	return m.Unattended().Secrets()
}

// Policies returns the manifest of the workspace for its policies; nil = it has none.
func (a Around) Policies() (*config.Manifest, error) {
	m, diags := a.load()
	if m == nil || !m.Policies().Declared() {
		return nil, nil
	}
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The policies here cannot be read",
			"They judge this plan too, and their manifests have errors. "+
				"Variables get values from files and from the environment here."))
	}
	a.w.Secrets.Add(m.Secrets())
	return m, nil
}
