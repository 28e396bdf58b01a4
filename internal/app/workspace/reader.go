package workspace

import (
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
)

// Reader reads manifests that a command does not work on, but that it is held to, or whose types it needs: those of the
// workspace, and files of policies. It reports no warnings, prompts for nothing, and takes no keys from them.
type Reader struct {
	options Options
	modules *Modules
	planned time.Time // what the manifests read as the time of the plan
}

// Reader returns a Reader for the command of this workspace.
func (w *Workspace) Reader() Reader { return Reader{w.Options, w.Modules, w.Started} }

// load reads the manifests of the workspace with the values of variables that files and the environment give; nil = there are
// none.
func (r Reader) load() (*config.Manifest, diag.Diagnostics) {
	sources, diags := config.Find(r.options.Dir, nil, nil)
	if diags.HasErrors() {
		return nil, nil
	}
	m, diags, _ := r.withVariables(sources, r.options.Dir)
	return m, diags
}

// withVariables loads the manifests that were found in a directory, with the values of variables that its files and the
// environment give. wrong is what is wrong with these.
func (r Reader) withVariables(sources config.Sources, dir string) (m *config.Manifest, diags, wrong diag.Diagnostics) {
	sources.Packages = r.modules.kept(dir)
	inputs, wrong := config.FindVariables(dir, r.options.Home, r.options.Environ, nil)
	m, diags = config.Load(sources, inputs, r.options.builtins(r.planned))
	return m, diags, wrong
}

// Needed reads the manifests of the workspace for a command that queries what they need; nil = there are none.
func (r Reader) Needed() (*config.Manifest, error) {
	m, diags := r.load()
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The manifests here cannot be read", "Their images are unknown. Fix them first, or choose "+
			"another directory with -chdir."))
	}
	return m, nil
}

// Types returns the types that the manifests of the workspace declare.
func (r Reader) Types() []config.Type {
	m, _ := r.load()
	if m == nil {
		return nil
	}
	return m.Types().All()
}

// Secrets returns the secret blocks of the manifests of the workspace, if these can be read.
func (r Reader) Secrets() []config.Secret {
	m, diags := r.load()
	if m == nil || diags.HasErrors() {
		return nil
	}
	r.options.Secrets.Add(m.Secrets())
	return m.Unattended().Secrets()
}

// Policies returns the manifest of the workspace for its policies; nil = it has none.
func (r Reader) Policies() (*config.Manifest, error) {
	m, diags := r.load()
	if m == nil || !m.Policies().Declared {
		return nil, nil
	}
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The policies here cannot be read",
			"They judge this plan too, and their manifests have errors. "+
				"Variables get values from files and from the environment here."))
	}
	r.options.Secrets.Add(m.Secrets())
	return m, nil
}
