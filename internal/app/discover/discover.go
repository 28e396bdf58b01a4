package discover

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/draft"
	"deployster/internal/app/hosts"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/plugs"
	"deployster/protocol"
	"deployster/state"
)

// Write queries the types that the root manifest declares for their objects, and writes the
// file. If no thing is new it writes none.
func Write(ctx context.Context, e *app.Engine, in workspace.Inputs, file string) error {
	if err := e.Workspace.CheckNewManifest(file); err != nil {
		return err
	}
	m, diags := e.Workspace.Check(ctx, in)
	if diags.HasErrors() {
		return diags
	}
	prior, err := e.Workspace.ReadState(ctx, e.Workspace.StatePlace(m))
	if err != nil {
		return err
	}
	s, err := open(ctx, e, m, prior)
	if err != nil {
		return err
	}
	out, asked := config.NewBlocks(m.Blocks()), 0
	for _, t := range m.Types().Root() {
		able, err := s.one(ctx, t, out)
		if err != nil {
			return err
		}
		if able {
			asked++
		}
	}
	switch {
	case asked == 0:
		return diag.Errorf("No type can list what exists", "-generate-config-out queries the types of the type blocks here, and no "+
			"image of theirs has \"discover_action\" in its answer to init.")
	case out.Len() == 0:
		e.Workspace.Note("Everything that exists is declared or recorded already: %s was not written.", file)
		return nil
	}
	if err := durable.WriteFile(e.Workspace.Path(file), out.Bytes(), 0o644); err != nil {
		return diag.Errorf("Cannot write the manifest", "%s.", err)
	}
	e.Workspace.Note("Wrote %s with %s. Its resources exist: an apply adopts them.", file, words.Count(out.Len(), "resource"))
	return nil
}

// search queries images which objects exist.
type search struct {
	engine   *app.Engine
	manifest *config.Manifest
	prior    state.Snapshot
	client   *typeclient.Client
	plugs    *plugs.Plugs
}

// open returns a search.
func open(ctx context.Context, e *app.Engine, m *config.Manifest, prior state.Snapshot) (*search, error) {
	at, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	resolver, err := at.Resolver(e.Workspace.Dir, m)
	if err != nil {
		return nil, err
	}
	at.Places.Known(hosts.Reachable(m))
	client, look := at.Client(e.Command(), at.Places, prior, nil, resolver), draft.PlugPaths(at.Places)
	return &search{engine: e, manifest: m, prior: prior, client: client, plugs: plugs.New(m.Plugs(), nil, look)}, nil
}

// one queries one type, if its image has a discover action, and adds the new objects to out.
func (s *search) one(ctx context.Context, t config.Type, out *config.Blocks) (able bool, err error) {
	if host := t.Settings.Host; host != nil && host.Address == "" {
		s.engine.Workspace.Warn(diag.Warningf("Not queried on a host", "type.%s runs on %s, whose address is not known yet.",
			t.Name, host.Name))
		return true, nil
	}
	target := typeclient.Target{Address: "type." + t.Name, Reference: t.Image, Settings: t.Settings, Pull: t.Pull, Verify: t.Verify,
		StateTimeout: t.Timeouts.State}
	ty, err := s.client.Init(ctx, target)
	if err != nil || ty.DiscoverAction == nil {
		return false, err
	}
	var diags diag.Diagnostics
	r := &config.Resource{Address: target.Address, TypeRef: t.Image, Settings: t.Settings, Range: t.Range}
	if target.Mounts, diags = s.plugs.Grant(ctx, r, reading(ty)); diags.HasErrors() {
		return false, diags
	}
	defaults, err := s.defaults(t)
	if err != nil {
		return false, err
	}
	found, err := s.client.Discover(ctx, target, ty, defaults)
	if err != nil {
		return false, err
	}
	known := s.known(t, ty, target.Mounts)
	for _, d := range found {
		thing := objects.Declared(s.client, t.Image, ty, d.Config, t.Settings, target.Mounts)
		if !slices.ContainsFunc(known, func(k match.Object) bool { return same(ty, thing, k) }) {
			secrets := s.client.WriteOnly(ty.ConfigSchema, d.Config)
			s.engine.Workspace.Secrets.Add(secret.Values(d.Config, secrets))
			if len(secrets) > 0 {
				s.engine.Workspace.Warn(diag.Warningf("A secret was left out",
					"type.%s lists %s with a value that its schema calls writeOnly: it is not "+
						"written into a manifest. Give it there as a variable.", t.Name, cmp.Or(d.Name, "an object")))
			}
			out.Add(t.Name, d.Name, own(jsondoc.Without(d.Config, secrets), defaults))
			known = append(known, thing)
		}
	}
	return true, nil
}

// defaults returns the default values of the configs of a type, as far as they are known.
func (s *search) defaults(t config.Type) (json.RawMessage, error) {
	if t.Defaults.Value == nil {
		return nil, nil
	}
	s.engine.Workspace.Secrets.Add(secret.Values(t.Defaults.Value, t.Defaults.Sensitive))
	all, err := jsondoc.OwnObject(t.Defaults.Value)
	if err != nil {
		return nil, err
	}
	for pointer := range t.Defaults.Unknown {
		delete(all, jsondoc.Pointer(pointer)[0])
	}
	return jsondoc.Encode(all)
}

// own returns the members of a config that differ from the defaults of its type.
func own(config, defaults json.RawMessage) json.RawMessage {
	all, _ := jsondoc.OwnObject(defaults)
	said, _ := jsondoc.OwnObject(config)
	var same []string
	for name, value := range all {
		if v, ok := said[name]; ok && jsondoc.Same(v, value) {
			same = append(same, jsondoc.JoinPointer([]string{name}))
		}
	}
	return jsondoc.Without(config, same)
}

// reading returns a type that needs its plugs only for reading.
func reading(ty protocol.Type) protocol.Type {
	wanted := make(map[string]protocol.PlugRequest, len(ty.Plugs))
	for name, p := range ty.Plugs {
		p.Writable = false
		wanted[name] = p
	}
	ty.Plugs = wanted
	return ty
}

// known returns the declared and the recorded objects of a type.
func (s *search) known(t config.Type, ty protocol.Type, mounts []runner.Mount) (list []match.Object) {
	for _, entry := range s.prior.Resources {
		if plugs.Untagged(entry.Type) == plugs.Untagged(t.Image) {
			list = append(list, objects.Declared(s.client, t.Image, ty, entry.Config, onHost(t.Settings, entry.Settings.Host), mounts))
		}
	}
	for _, r := range s.manifest.Resources() {
		if plugs.Untagged(r.TypeRef) != plugs.Untagged(t.Image) || r.Publish != nil {
			continue
		}
		if c, wrong := s.manifest.Config(r.Address, config.States{}); !wrong.HasErrors() {
			list = append(list, objects.Declared(s.client, t.Image, ty, c.Value, onHost(t.Settings, r.Settings.Host), mounts))
		}
	}
	return list
}

// onHost returns the settings of a type for a thing on a host. Hosts with the same name are the same.
func onHost(s runner.Settings, host *runner.Host) runner.Settings {
	if host == nil || s.Host == nil || host.Name != s.Host.Name {
		s.Host = host
	}
	return s
}

// same reports whether two descriptions mean the same thing: by its identity, or else by
// the whole config.
func same(ty protocol.Type, a, b match.Object) bool {
	if len(ty.Identity) > 0 {
		return match.SameNames(a, b)
	}
	return jsondoc.Same(a.Config, b.Config)
}
