package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/stores"
)

// Inputs are the manifests that a command reads, and the values of variables.
type Inputs struct {
	Paths     []string         // manifests and directories of them, which may be only a part; none = the whole workspace
	Variables []config.VarFlag // later ones override earlier ones
	Ask       bool             // prompt the UI for variables that have no value
	Edited    config.Edited    // texts that count in place of those of files
}

// load is config.Load or config.Check.
type load func(config.Sources, []config.VarInput, config.Builtins) (*config.Manifest, diag.Diagnostics)

// Manifest reads the manifests and the variables, and reports warnings.
func (w *Workspace) Manifest(ctx context.Context, in Inputs) (*config.Manifest, error) {
	b := w.builtins(w.Started)
	b.Remote = w.Remotes().Read
	m, diags, err := w.read(ctx, in, config.Load, b)
	if err != nil {
		return nil, err
	}
	return w.accept(m, diags)
}

// CheckedManifest is Manifest where variables may have no values.
func (w *Workspace) CheckedManifest(ctx context.Context, in Inputs) (*config.Manifest, error) {
	m, diags, err := w.read(ctx, in, config.Check, w.builtins(w.Started))
	if err != nil {
		return nil, err
	}
	return w.accept(m, diags)
}

// Check reads the manifests and returns their errors and warnings.
func (w *Workspace) Check(ctx context.Context, in Inputs) (*config.Manifest, diag.Diagnostics) {
	m, diags, err := w.read(ctx, in, config.Check, w.builtins(w.Started))
	if err != nil {
		return nil, diag.From("Error", err)
	}
	w.Secrets.Add(m.Secrets())
	return m, diags
}

// Load loads manifests that were found, with given values of variables. It reports and learns nothing.
func (w *Workspace) Load(sources config.Sources, inputs []config.VarInput) (*config.Manifest, diag.Diagnostics) {
	return config.Load(sources, inputs, w.builtins(w.Started))
}

// consoleManifest is Manifest for expressions, which can be evaluated even without any
// manifest.
func (w *Workspace) consoleManifest(ctx context.Context, in Inputs) (*config.Manifest, error) {
	if _, diags := config.Find(w.Dir, nil, nil); len(in.Paths) == 0 && len(diags) == 1 && diags[0].Summary == config.NoManifest {
		m, diags := config.Load(config.Sources{Workspace: w.Dir, Dir: w.Dir}, nil, w.builtins(w.Started))
		return w.accept(m, diags)
	}
	return w.Manifest(ctx, in)
}

// read returns the errors in the manifests as diagnostics, and leaves it to the caller what they mean.
func (w *Workspace) read(ctx context.Context, in Inputs, with load, b config.Builtins) (*config.Manifest, diag.Diagnostics, error) {
	sources, err := w.Modules.Find(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	inputs, diags := in.Edited.FindVariables(w.Dir, w.Home, w.Environ, in.Variables)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	m, more := with(sources, inputs, b)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if in.Ask {
		answers, err := w.askVariables(ctx, m, more)
		if err != nil {
			return nil, nil, err
		}
		if len(answers) > 0 {
			m, more = with(sources, append(inputs, answers...), b)
		}
	}
	return m, append(append(diags, more...), wrongState(w.State, m)...), nil
}

// wrongState returns an error if the manifest names the state by a URL that can never be one, unless another is given. It
// quotes no line: the URL may have a password in it.
func wrongState(given string, m *config.Manifest) diag.Diagnostics {
	if url, at := m.Settings().StatePath, m.Settings().StateAt; given == "" && stores.IsURL(url) {
		if d, ok := errors.AsType[*diag.Diagnostic](stores.Check(url)); ok {
			d.Range = at
			return diag.Diagnostics{d}
		}
	}
	return nil
}

// askVariables prompts for the values of variables that have none, if these are the only
// errors.
func (w *Workspace) askVariables(ctx context.Context, m *config.Manifest, diags diag.Diagnostics) ([]config.VarInput, error) {
	wanted := m.Variables().Missing()
	failed := 0
	for _, d := range diags {
		if d.Severity == diag.Error {
			failed++
		}
	}
	if w.UI == nil || len(wanted) == 0 || failed != len(wanted) {
		return nil, nil
	}
	var answers []config.VarInput
	for _, v := range wanted {
		text, err := w.UI.AskVariable(ctx, v)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, diag.Errorf("A variable has no value", "No value was entered for var.%s (%s). Nothing was changed.", v.Name, err)
		}
		if v.Sensitive {
			w.Secrets.Add([]string{text})
		}
		answers = append(answers, config.Answered(v.Name, text))
	}
	return answers, nil
}

// Replay returns the manifests that a plan has saved, as they were when it was made.
func (w *Workspace) Replay(sources config.Sources, variables map[string]json.RawMessage, planned time.Time) (*config.Manifest, error) {
	inputs, diags := config.Pinned(variables)
	if diags.HasErrors() {
		return nil, diags
	}
	m, more := config.Load(sources, inputs, w.builtins(planned))
	return w.accept(m, append(diags, more...))
}

// Empty returns a manifest that declares nothing.
func (w *Workspace) Empty() (*config.Manifest, error) {
	return w.Replay(config.Sources{Workspace: w.Dir, Dir: w.Dir, Replay: true}, nil, w.Started)
}

// accept reports warnings, and learns the secrets and the keys of a manifest.
func (w *Workspace) accept(m *config.Manifest, diags diag.Diagnostics) (*config.Manifest, error) {
	if diags.HasErrors() {
		return nil, diags
	}
	w.Diagnostics(diags)
	w.Secrets.Add(m.Secrets())
	w.useKeys(m)
	return m, nil
}

// UseKeys reads the manifests of the workspace for a command that does not work on them,
// and uses their keys. It ignores their errors.
func (w *Workspace) UseKeys() *config.Manifest {
	sources, diags := config.Find(w.Dir, nil, nil)
	if diags.HasErrors() {
		return nil
	}
	sources.Packages = w.Modules.kept(w.Dir)
	m, _ := config.Load(sources, nil, w.builtins(w.Started))
	w.useKeys(m)
	return m
}
