package plugs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/plan/artifacts"
	"deployster/protocol"
)

// Plugs are the plugs of a manifest, and where their paths lead, each found once.
type Plugs struct {
	byName    map[string]config.Plug
	artifacts *artifacts.Resolver // nil = there are no artifacts
	resolve   Resolve

	mu    sync.Mutex
	paths map[string]plugPath   // by the plug's name
	hosts map[string]*hostPaths // by the host's name
}

type plugPath struct {
	path string // as plans and entries keep it: see portable
	err  error
}

// New returns the plugs that a manifest declares. files finds the versions of the
// artifacts whose files they show; nil = there are no artifacts. read finds where plugs
// lead on hosts; nil = hosts cannot be reached.
func New(list []config.Plug, files *artifacts.Resolver, resolve Resolve) *Plugs {
	p := &Plugs{byName: map[string]config.Plug{}, artifacts: files, resolve: resolve, paths: map[string]plugPath{},
		hosts: map[string]*hostPaths{}}
	for _, plug := range list {
		p.byName[plug.Name] = plug
	}
	return p
}

// source returns where a plug's path leads, as plans and entries keep it.
func (p *Plugs) source(plug config.Plug) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, known := p.paths[plug.Name]
	if !known {
		if found.path, found.err = ResolveLinks(plug, p.byName); found.err == nil {
			found.path = portable(plug, found.path)
		}
		p.paths[plug.Name] = found
	}
	return found.path, found.err
}

// Grant decides which of the plugs that a type requests a resource gets, and how
// they are mounted. A required plug that cannot be given is an error, an optional
// one a warning.
func (p *Plugs) Grant(ctx context.Context, r *config.Resource, t protocol.Type) ([]runner.Mount, diag.Diagnostics) {
	var mounts []runner.Mount
	var diags diag.Diagnostics
	taken := map[string]string{}
	for _, name := range jsondoc.Keys(t.Plugs) {
		want := t.Plugs[name]
		plug, declared := p.byName[name]
		if declared && r.Settings.WholeMachine && plug.Artifact == "" && plug.Content == "" {
			diags = append(diags, plugError(r, "A plug of what has the whole machine",
				"The image %s would get the plug %q, and its type has whole_machine = true: %s is visible to it at /machine "+
					"already. Name the path in the config, or remove whole_machine to show just the plug.", r.TypeRef, name,
				diag.Visible(plug.Path)))
			continue
		}
		if problem := refusal(r, name, want, plug, declared); problem != nil {
			if want.Optional {
				problem.Severity = diag.Warning
				problem.Detail += " The type can do without it, so it runs without."
			}
			diags = append(diags, problem)
			continue
		}
		if other, clash := taken[want.ContainerPath]; clash {
			diags = append(diags, plugError(r, "Two plugs on one path",
				"The image %s has the plugs %q and %q both at %s. This is a fault of the image: report it to its author.",
				r.TypeRef, other, name, want.ContainerPath))
			continue
		}
		taken[want.ContainerPath] = name
		writable := !plug.ReadOnly && (want.Writable || want.AnyMode)
		if plug.Content != "" {
			source, d := content(r, plug)
			if diags = append(diags, d...); len(d) == 0 {
				mounts = append(mounts, runner.Mount{Source: source, Target: want.ContainerPath, Content: plug.Content})
			}
			continue
		}
		if plug.Artifact != "" {
			source, d := p.files(ctx, plug)
			if diags = append(diags, d...); source != "" {
				mounts = append(mounts, runner.Mount{Source: source, Target: want.ContainerPath})
			}
			continue
		}
		if host := r.Settings.Host; host != nil && host.Kubernetes != nil {
			mount, d := inCluster(r, want, plug)
			if diags = append(diags, d...); len(d) == 0 {
				mounts = append(mounts, mount)
			}
			continue
		}
		if r.Settings.Host != nil {
			source, d := p.onHost(ctx, r, plug)
			if diags = append(diags, d...); source != "" {
				mounts = append(mounts, runner.Mount{Source: source, Target: want.ContainerPath, Writable: writable})
			}
			continue
		}
		source, err := p.source(plug)
		if err != nil {
			diags = append(diags, errPlugPath(r, plug, err))
			continue
		}
		mounts = append(mounts, runner.Mount{Source: source, Target: want.ContainerPath, Writable: writable})
	}
	return mounts, diags
}

// Named grants a resource the plugs that its config names where its type reads them, each read-only
// and at its own name.
func (p *Plugs) Named(ctx context.Context, r *config.Resource, t protocol.Type, value json.RawMessage) ([]runner.Mount, diag.Diagnostics) {
	if len(t.PlugsIn) == 0 {
		return nil, nil
	}
	doc, err := jsondoc.Value(value)
	if err != nil {
		return nil, nil // it is reported where it is read
	}
	t.Plugs = map[string]protocol.PlugRequest{}
	for _, pointer := range t.PlugsIn {
		text, _ := jsondoc.At(doc, jsondoc.Pointer(pointer)).(string)
		if below, is := strings.CutPrefix(text, protocol.PlugsDir); is {
			name, _, _ := strings.Cut(below, "/")
			t.Plugs[name] = protocol.PlugRequest{ContainerPath: protocol.PlugsDir + name}
		}
	}
	return p.Grant(ctx, r, t)
}

// Waits returns the artifact whose files a resource would get, and that has no version yet; "" = there is none.
func (p *Plugs) Waits(ctx context.Context, r *config.Resource, t protocol.Type) string {
	for _, name := range jsondoc.Keys(t.Plugs) {
		plug := p.byName[name]
		if plug.Artifact == "" || p.artifacts == nil || !Allowed(plug, r) {
			continue
		}
		if _, err := p.artifacts.Resolve(ctx, plug.Artifact); diag.Is[*artifacts.WaitsError](err) {
			return plug.Artifact
		}
	}
	return ""
}

// files returns the mount source for the files of an artifact. Its errors name the
// artifact, and not each resource that gets the files.
func (p *Plugs) files(ctx context.Context, plug config.Plug) (string, diag.Diagnostics) {
	if p.artifacts == nil {
		return "", diag.From("Unknown artifact", fmt.Errorf("the plug %s shows the files of artifact.%s, which is not known here",
			plug.Name,
			plug.Artifact))
	}
	pin, err := p.artifacts.Resolve(ctx, plug.Artifact)
	if err != nil {
		return "", diag.From("Cannot find the version of an artifact", err)
	}
	return artifact.MountSource(pin.Key, plug.Path), nil
}

// refusal returns the error why a plug cannot be given; nil = it can.
func refusal(r *config.Resource, name string, want protocol.PlugRequest, plug config.Plug, declared bool) *diag.Diagnostic {
	switch {
	case !declared:
		return plugError(r, "Missing plug",
			"The image %s needs a plug named %q, and no manifest declares one. Declare it: plug %q { path = \"...\" }.",
			r.TypeRef, name, name)
	case !Allowed(plug, r):
		return plugError(r, "Plug not allowed",
			"The image %s needs the plug %q, which is declared, but neither its resource_names nor its resource_types match this "+
				"resource. Add a pattern to the plug if it may have it.",
			r.TypeRef, name)
	case want.Writable && plug.Artifact != "":
		return plugError(r, "Plug is read-only",
			"The image %s needs to write to the plug %q, which has the files of artifact.%s: these are read only.", r.TypeRef, name,
			plug.Artifact)
	case want.Writable && plug.ReadOnly:
		return plugError(r, "Plug is read-only",
			"The image %s needs to write to the plug %q, which is declared read_only = true. Remove read_only from the plug if it may.",
			r.TypeRef, name)
	}
	return nil
}

// Allowed reports whether a plug's lists allow a resource to have it: a match in
// either list is enough, and two empty lists allow every resource.
func Allowed(p config.Plug, r *config.Resource) bool {
	if len(p.ResourceNames) == 0 && len(p.ResourceTypes) == 0 {
		return true
	}
	for _, re := range p.ResourceNames {
		if re.MatchString(r.Address) {
			return true
		}
	}
	for _, re := range p.ResourceTypes {
		if re.MatchString(r.TypeRef) {
			return true
		}
	}
	return false
}

// Untagged removes the tag and the digest from an image reference. The #KIND stays:
// another #KIND is another type.
func Untagged(ref string) string {
	ref, kind, marked := strings.Cut(ref, "#")
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndexByte(ref, ':'); colon > strings.LastIndexByte(ref, '/') {
		ref = ref[:colon]
	}
	if marked {
		return ref + "#" + kind
	}
	return ref
}

func plugError(r *config.Resource, summary, detail string, args ...any) *diag.Diagnostic {
	at := r.Range
	return &diag.Diagnostic{Severity: diag.Error, Summary: summary, Detail: fmt.Sprintf(detail, args...),
		Address: r.Address, Action: "init", Range: &at}
}

// RequireAliases checks the dependencies that an image of protocol 1 names: a
// required alias must exist, each alias must lead to a resource of the type that the
// image names, compared without the tag, and some images allow no other aliases.
func RequireAliases(r *config.Resource, t protocol.Type, typeOf func(addr string) string) diag.Diagnostics {
	if len(t.OptionalResources)+len(t.RequiredResources) == 0 && !t.OnlyThese {
		return nil
	}
	var diags diag.Diagnostics
	wanted := map[string]string{}
	maps.Copy(wanted, t.OptionalResources)
	maps.Copy(wanted, t.RequiredResources)
	for _, alias := range slices.Sorted(maps.Keys(wanted)) {
		want := wanted[alias]
		addr, ok := r.Aliases[alias]
		if !ok {
			if _, optional := t.OptionalResources[alias]; !optional {
				diags = append(diags, plugError(r, "Missing dependency",
					"The image %s requires a dependency under the alias %q, of type %s. Add it: dependencies = { %s = resource.NAME }.",
					r.TypeRef, alias, want, alias))
			}
			continue
		}
		if got := typeOf(addr); Untagged(got) != Untagged(want) {
			diags = append(diags, plugError(r, "Dependency of the wrong type",
				"The image %s requires its dependency %q to be of type %s, but resource %q is of type %s.",
				r.TypeRef, alias, want, addr, got))
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(r.Aliases)) {
		if _, known := wanted[alias]; t.OnlyThese && !known {
			diags = append(diags, plugError(r, "Unknown dependency",
				"The image %s has no use for a dependency under the alias %q; those that it knows are: %s. If it is for the order "+
					"only, write depends_on.",
				r.TypeRef, alias, strings.Join(slices.Sorted(maps.Keys(wanted)), ", ")))
		}
	}
	return diags
}
