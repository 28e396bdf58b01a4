package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// thing is an instance in Terraform's state.
type thing struct {
	attributes json.RawMessage
	sensitive  []string         // JSON pointers into the attributes
	block      *hclsyntax.Block // nil = the configuration does not declare it under this address
}

// record completes the entries of the resources that the new manifests declare: the config of an
// entry is what the manifests yield with the recorded states, so that the first plan finds no change.
// An entry whose config cannot be determined stays incomplete, and the first plan adopts the thing.
func (m *migration) record(o Options) {
	manifest, diags := m.manifest(o)
	if diags.HasErrors() {
		return // each command reports what is invalid in the manifests
	}
	scope := config.States{}
	for address, t := range m.things {
		scope[address] = config.ResourceState{Known: t.attributes, Complete: true, Sensitive: t.sensitive}
	}
	if manifest = expanded(manifest, scope); manifest == nil {
		return
	}
	for _, r := range manifest.Resources() {
		entry, recorded := m.result.Snapshot.Resources[r.Address]
		if !recorded {
			continue
		}
		resolved, diags := recordedConfig(manifest, r.Address, scope, m.things[r.Address])
		if diags.HasErrors() {
			continue
		}
		entry.Config, entry.Sensitive.Config = resolved.Value, resolved.Sensitive
		entry.State, entry.ValidAt = json.RawMessage("null"), o.Now.UTC()
		entry.Aliases, entry.Settings = r.Aliases, r.Settings
		entry.StateTimeout, entry.ActionTimeout = state.Duration(r.Timeouts.State), state.Duration(r.Timeouts.Action)
		entry.PreventDestroy, entry.OnRemove = r.PreventDestroy, string(r.OnRemove)
		for _, e := range r.Edges {
			entry.Dependencies = append(entry.Dependencies, e.To)
		}
		slices.Sort(entry.Dependencies)
		entry.Dependencies = slices.Compact(entry.Dependencies)
		m.result.Snapshot.Resources[r.Address] = entry
	}
}

// manifest loads the new manifests, with the values that variables have in Terraform.
func (m *migration) manifest(o Options) (*config.Manifest, diag.Diagnostics) {
	var flags []config.VarFlag
	for _, file := range m.varFiles {
		flags = append(flags, config.VarFlag{File: true, Value: file})
	}
	var environ []string
	for _, e := range o.Environ {
		if given, ok := strings.CutPrefix(e, "TF_VAR_"); ok {
			environ = append(environ, "DEPLOYSTER_VAR_"+given)
		}
	}
	vars, diags := config.FindVariables(m.dir, "", append(environ, o.Environ...), flags)
	if diags.HasErrors() {
		return nil, diags
	}
	src := config.Sources{Workspace: m.dir, Dir: m.dir, Modules: map[string][]config.File{}}
	for _, name := range slices.Sorted(maps.Keys(m.result.Files)) {
		f := config.File{Path: name, Bytes: m.result.Files[name]}
		switch dir := path.Dir(name); {
		case !strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".auto.hcl"):
		case dir == ".":
			src.Manifests = append(src.Manifests, f)
		default:
			src.Modules[dir] = append(src.Modules[dir], f)
		}
	}
	manifest, diags := config.Load(src, vars, config.Builtins{Version: o.Version})
	missing := manifest.Missing()
	if len(missing) == 0 {
		return manifest, diags
	}
	m.result.Notes = append(m.result.Notes, fmt.Sprintf("the variable %s: it has no value here, so that what is made of it, such as the "+
		"config of a provider, is recorded by the first apply; TF_VAR_%[1]s would give it one", missing[0].Name))
	return config.Check(src, vars, config.Builtins{Version: o.Version})
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
		next, diags := m.Expand(open, scope)
		if diags.HasErrors() {
			return nil
		}
		m = next
	}
}

// recordedConfig returns the config with which a thing needs no change: paths of
// ignore_changes and values that are unknown here are taken from the state.
func recordedConfig(m *config.Manifest, address string, scope config.States, t thing) (config.Resolved, diag.Diagnostics) {
	out, diags := m.Config(address, scope)
	if diags.HasErrors() {
		return out, diags
	}
	attributes, err := jsondoc.Value(t.attributes)
	if err != nil {
		return out, diag.From("Cannot read the state", err)
	}
	fill(&out, attributes, t.sensitive)
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
				last[name] = within(is, was)
			}
		}
	}
	known := scope[address]
	defer func() { scope[address] = known }()
	with := known
	text, err := jsondoc.Encode(last)
	with.Last = &config.LastConfig{Value: text, Sensitive: slices.Concat(out.Sensitive, t.sensitive)}
	if scope[address] = with; err != nil {
		return out, diag.From("Cannot write a config", err)
	}
	out, diags = m.Config(address, scope)
	fill(&out, attributes, t.sensitive)
	return out, diags
}

// isBlock reports whether the configuration writes a part of the config as blocks.
func (t thing) isBlock(name string) bool {
	return t.block != nil && slices.ContainsFunc(t.block.Body.Blocks, func(b *hclsyntax.Block) bool { return blockName(b) == name })
}

// within returns the state's values for what the blocks contain; all else in the state is computed.
func within(written, was any) any {
	switch w := written.(type) {
	case map[string]any:
		if list, ok := was.([]any); ok && len(list) == 1 { // one block, which may be an object in the config
			was = list[0]
		}
		own, ok := was.(map[string]any)
		if !ok {
			return written
		}
		out := map[string]any{}
		for name, value := range w {
			if out[name] = value; own[name] != nil {
				out[name] = within(value, own[name])
			}
		}
		return out
	case []any:
		own, ok := was.([]any)
		if !ok || len(own) != len(w) {
			return written
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = within(w[i], own[i])
		}
		return out
	}
	return was
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
