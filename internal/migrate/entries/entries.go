package entries

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/migrate/tffiles"
	"deployster/internal/migrate/tfrefs"
	"deployster/state"
)

// Object is an instance in Terraform's state.
type Object struct {
	Attributes json.RawMessage
	Sensitive  []string         // JSON pointers into the attributes
	Block      *hclsyntax.Block // nil = the configuration does not declare it under this address
}

// Complete completes the entries of the resources that the new manifests declare: the config of an
// entry is what the manifests yield with the recorded states, so that the first plan finds no change.
// An entry whose config cannot be determined stays incomplete, and the first plan adopts the object.
func Complete(snapshot state.Snapshot, things map[string]Object, manifest *config.Manifest, now time.Time) {
	scope := config.States{}
	for address, t := range things {
		scope[address] = config.ResourceState{Known: t.Attributes, Complete: true, Sensitive: t.Sensitive}
	}
	if manifest = expanded(manifest, scope); manifest == nil {
		return
	}
	recordNulls(snapshot, manifest, scope)
	for _, r := range manifest.Resources() {
		entry, recorded := snapshot.Resources[r.Address]
		if !recorded {
			continue
		}
		resolved, diags := recordedConfig(manifest, r.Address, scope, things[r.Address])
		if diags.HasErrors() {
			continue
		}
		entry.Config, entry.Sensitive.Config = resolved.Value, resolved.Sensitive
		entry.State, entry.ValidAt = json.RawMessage("null"), now.UTC()
		entry.Aliases, entry.Settings = r.Aliases, r.Settings
		entry.StateTimeout, entry.ActionTimeout = state.Duration(r.Timeouts.State), state.Duration(r.Timeouts.Action)
		entry.PreventDestroy, entry.OnRemove = r.PreventDestroy, string(r.OnRemove)
		for _, e := range r.Edges {
			entry.Dependencies = append(entry.Dependencies, e.To)
		}
		slices.Sort(entry.Dependencies)
		entry.Dependencies = slices.Compact(entry.Dependencies)
		snapshot.Resources[r.Address] = entry
	}
}

// recordNulls records the outputs that are null, which Terraform's state does not have.
func recordNulls(snapshot state.Snapshot, manifest *config.Manifest, scope config.States) {
	values, diags := manifest.Outputs(scope)
	if diags.HasErrors() {
		return // the first plan reports them
	}
	for _, v := range values {
		if _, known := snapshot.Outputs[v.Name]; !known && len(v.Unknown) == 0 && string(v.Value) == "null" {
			snapshot.Outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive, Export: v.Export}
		}
	}
}

// expanded creates the instances of blocks whose numbers depend on the states; nil = it
// failed.
func expanded(m *config.Manifest, scope config.States) *config.Manifest {
	for {
		open := slices.DeleteFunc(slices.Clone(m.Pending()), func(p config.Pending) bool {
			return p.Waits || slices.ContainsFunc(p.Needs, func(address string) bool { _, known := scope[address]; return !known })
		})
		if len(open) == 0 {
			return m
		}
		next, unknown, diags := m.Expand(open, scope)
		if diags.HasErrors() || len(unknown) > 0 {
			return nil
		}
		m = next
	}
}

// recordedConfig returns the config with which an object needs no change: paths of
// ignore_changes and values that are unknown here are taken from the state.
func recordedConfig(m *config.Manifest, address string, scope config.States, t Object) (config.Resolved, diag.Diagnostics) {
	out, diags := m.Config(address, scope)
	if diags.HasErrors() {
		return out, diags
	}
	attributes, err := jsondoc.Value(t.Attributes)
	if err != nil {
		return out, diag.From("Cannot read the state", err)
	}
	fill(&out, attributes, t.Sensitive)
	written, err := jsondoc.Object(out.Value)
	if err != nil {
		return out, diag.From("Cannot read a config", err)
	}
	own, _ := attributes.(map[string]any)
	last := map[string]any{}
	for name, value := range written {
		last[name] = value
		if was := own[name]; was != nil {
			last[name] = was
			if is, err := jsondoc.Value(value); err == nil && t.isBlock(name) {
				last[name] = tffiles.Within(is, was)
			}
		}
	}
	known := scope[address]
	defer func() { scope[address] = known }()
	with := known
	text, err := jsondoc.Encode(last)
	with.Last = &config.LastConfig{Value: text, Sensitive: slices.Concat(out.Sensitive, t.Sensitive)}
	if scope[address] = with; err != nil {
		return out, diag.From("Cannot write a config", err)
	}
	out, diags = m.Config(address, scope)
	fill(&out, attributes, t.Sensitive)
	return out, diags
}

// isBlock reports whether the configuration writes a part of the config as blocks.
func (t Object) isBlock(name string) bool {
	return t.Block != nil && slices.ContainsFunc(t.Block.Body.Blocks, func(b *hclsyntax.Block) bool { return tfrefs.BlockType(b) == name })
}

// fill replaces unknown values by those of the state, and removes them if the state has none.
func fill(c *config.Resolved, attributes any, sensitive []string) {
	if len(c.Unknown) == 0 {
		return
	}
	value, err := jsondoc.Value(c.Value)
	if err != nil {
		return // the caller reports the error when it reads the value
	}
	for _, pointer := range slices.Sorted(maps.Keys(c.Unknown)) {
		steps := jsondoc.Pointer(pointer)
		if len(steps) == 0 {
			value = map[string]any{}
			break
		}
		was := jsondoc.At(attributes, steps)
		switch parent := jsondoc.At(value, steps[:len(steps)-1]).(type) {
		case map[string]any:
			if parent[steps[len(steps)-1]] = was; was == nil {
				delete(parent, steps[len(steps)-1])
			}
		case []any:
			if i, err := strconv.Atoi(steps[len(steps)-1]); err == nil && i < len(parent) {
				parent[i] = was
			}
		}
	}
	if text, err := jsondoc.Encode(value); err == nil {
		c.Value, c.Unknown = text, nil
	}
	c.Sensitive = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Sensitive, sensitive))))
}
