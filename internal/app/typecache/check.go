package typecache

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/subject"
	"deployster/protocol"
)

// Check returns the errors in the configs of a manifest, whose variables need no values,
// and notes the types whose schemas are not known here.
func Check(w *workspace.Workspace, m *config.Manifest) diag.Diagnostics {
	known, err := New(w)
	if err != nil {
		return diag.From("Cannot read the lock file", err)
	}
	var unknownActions diag.Diagnostics
	types, unknown := map[string]protocol.Type{}, map[string]bool{}
	for _, r := range m.Resources() {
		if r.Publish != nil {
			continue // its image is that of an artifact
		}
		ty, ok := known.Kept(typeclient.Target{Reference: r.TypeRef, Settings: r.Settings})
		if !ok {
			unknown[r.TypeRef] = true
			continue
		}
		types[r.Address] = ty
		unknownActions = append(unknownActions, subject.UnknownActions(m, r, ty)...)
	}
	m = config.Converting(m, func(addr string) protocol.Type { return types[addr] })
	diags := unknownActions
	for _, addr := range slices.Sorted(maps.Keys(types)) {
		resolved, wrong := m.Config(addr, config.States{})
		if diags = append(diags, wrong...); !wrong.HasErrors() {
			diags = append(diags, subject.Violations(m, addr, known.Client.CheckConfig(types[addr], resolved.Value, resolved.Unknown))...)
		}
	}
	for _, b := range configured(m) {
		ty, ok := known.Kept(typeclient.Target{Reference: b.reference, Settings: b.settings})
		if !ok {
			unknown[b.reference] = true
			continue
		}
		for _, v := range known.Client.CheckConfig(ty, b.config.Value, b.config.Unknown) {
			diags = append(diags, m.Diagnose(diag.Errorf("The config is not valid", "%s: %s", b.address, v.Sentence()), &b.at))
		}
	}
	if names := slices.Sorted(maps.Keys(unknown)); len(names) > 0 {
		w.Note("Note: configs of %s were not checked against schemas. To fetch the schemas of all types: deployster init", words.List(names,
			3))
	}
	return diags
}

// block is a policy, a notify block or a secret with an image.
type block struct {
	address, reference string
	settings           runner.Settings
	config             config.Resolved
	at                 diag.Range
}

// configured lists the policies, notify blocks and secrets whose images may have schemas.
func configured(m *config.Manifest) (list []block) {
	for _, p := range m.Policies().List {
		if p.Type != "" {
			list = append(list, block{"policy." + p.Name, p.Type, p.Settings.Settings, p.Config, p.Range})
		}
	}
	for _, n := range m.Unattended().Notify() {
		list = append(list, block{"notify." + n.Name, n.Image, n.Settings, n.Config, n.Range})
	}
	for _, s := range m.Unattended().Secrets() {
		list = append(list, block{"secret." + s.Name, s.Image, s.Settings, s.Config, s.Range})
	}
	return list
}
