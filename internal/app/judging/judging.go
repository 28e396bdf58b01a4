package judging

import (
	"context"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Validate has the types of a manifest judge the configs of its resources, and checks these against the schemas. It queries
// no state. What runs on hosts is left out: it is judged by plan.
func Validate(ctx context.Context, e *app.Engine, m *config.Manifest) (diag.Diagnostics, error) {
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	resolver, err := machine.Resolver(e.Workspace.Dir, m)
	if err != nil {
		return nil, err
	}
	pins, err := resolver.All(ctx)
	if err != nil {
		return nil, err
	}
	client := machine.Client(e.Command(), machine.Places, state.Snapshot{}, pins, resolver)
	types, targets := map[string]protocol.Type{}, map[string]typeclient.Target{}
	elsewhere := 0
	for _, r := range m.Resources() {
		if r.Publish != nil {
			continue // its image is that of an artifact
		}
		if r.Settings.Host != nil {
			elsewhere++
			continue
		}
		t := typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull, Verify: r.Verify,
			StateTimeout: r.Timeouts.State}
		ty, err := client.Init(ctx, t)
		if err != nil {
			return nil, err
		}
		types[r.Address], targets[r.Address] = ty, t
	}
	if elsewhere > 0 {
		e.Workspace.Note("Note: resources on hosts were not judged by their images, which plan does: %d.", elsewhere)
	}
	diags, err := secrets(ctx, m, client)
	if err != nil {
		return nil, err
	}
	m = config.Converting(m, func(addr string) protocol.Type { return types[addr] })
	return append(diags, judged(ctx, m, client, types, targets)...), nil
}

// secrets returns what the schemas of images find in the configs of secret blocks.
func secrets(ctx context.Context, m *config.Manifest, client *typeclient.Client) (diags diag.Diagnostics, err error) {
	for _, s := range m.Unattended().Secrets() {
		ty, err := client.Describe(ctx, typeclient.Target{Address: "secret." + s.Name, Reference: s.Image, Settings: s.Settings,
			Pull: s.Pull, Verify: s.Verify})
		if err != nil {
			return nil, err
		}
		for _, v := range client.CheckConfig(ty, s.Config.Value, s.Config.Unknown) {
			diags = append(diags, m.Diagnose(diag.Errorf("The config is not valid", "secret.%s: %s", s.Name, v.Sentence()), &s.Range))
		}
	}
	return diags, nil
}

// judged returns what schemas and types find in the configs of a manifest.
func judged(ctx context.Context, m *config.Manifest, client *typeclient.Client, types map[string]protocol.Type,
	targets map[string]typeclient.Target) (diags diag.Diagnostics) {
	for _, r := range m.Resources() {
		ty, known := types[r.Address]
		if !known {
			continue
		}
		resolved, wrong := m.Config(r.Address, config.States{})
		if diags = append(diags, wrong...); wrong.HasErrors() {
			continue
		}
		if violations := client.CheckConfig(ty, resolved.Value, resolved.Unknown); len(violations) > 0 {
			diags = append(diags, subject.Violations(m, r.Address, violations)...)
			continue
		}
		found, err := client.Validate(ctx, targets[r.Address], ty, resolved.Value, resolved.Unknown)
		diags = append(append(diags, diag.From("Cannot validate the config", err)...), subject.Findings(m, r.Address, found)...)
	}
	return diags
}
