package workspace

import (
	"context"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/observe"
)

// Console evaluates expressions in the scope of manifests.
type Console struct {
	w        *Workspace
	manifest *config.Manifest
	scope    config.States
}

// Console returns a Console, in which resources have their recorded states.
func (w *Workspace) Console(ctx context.Context, in Inputs) (*Console, error) {
	m, err := w.consoleManifest(ctx, in)
	if err != nil {
		return nil, err
	}
	snapshot, err := w.ReadState(ctx, w.StatePlace(m))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, d := range diag.From("The state cannot be read", err) {
		w.Diagnostics(diag.Diagnostics{diag.Warningf(d.Summary, "%s Expressions are evaluated without the state.", d.Detail)})
	}
	k := &Console{w: w, manifest: m, scope: config.States{}}
	for addr, entry := range snapshot.Resources {
		w.Secrets.Add(observe.SecretsOf(entry))
		if entry.Incomplete() {
			continue // its state is unknown
		}
		k.scope[addr] = config.ResourceState{Known: entry.State, Complete: true, Sensitive: entry.Sensitive.State}
	}
	return k, nil
}

// Evaluate returns the value of an expression in HCL. It reports the errors of the
// expression, and then ok is false.
func (k *Console) Evaluate(text string) (shown string, ok bool) {
	shown, diags := k.manifest.Evaluate(text, k.scope)
	k.w.Diagnostics(diags)
	return shown, !diags.HasErrors()
}
