package planpage

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/ui/artifactlines"
	"deployster/internal/ui/diagram"
	"deployster/plan"
)

// artifactRow is a version that a plan uses.
type artifactRow struct {
	Class, Name, Type text
	Was, Now          text // Was: the recorded version; "" = the version stays, or none was recorded
	New               bool // no version was recorded
	About             text
}

// artifacts returns the versions of a plan's artifacts, in the order of their names.
func (v *view) artifacts() (list []artifactRow) {
	for _, name := range slices.Sorted(maps.Keys(v.plan.Artifacts)) {
		p := v.plan.Artifacts[name]
		r := artifactRow{Class: "valid", Name: v.text(name), Type: v.clipped(p.Type),
			Now: v.clipped(artifactlines.ShortVersion(p.Recipe.Version)),
			New: p.Was == nil, About: v.clipped(artifactlines.About(p))}
		if p.Moves() {
			r.Class = "update"
			if !r.New {
				r.Was = v.clipped(artifactlines.ShortVersion(p.Was))
			}
		}
		list = append(list, r)
	}
	return list
}

// drawArtifacts adds the artifacts of a plan, with the versions that it uses. Edges come
// from the plan's manifests, and for plugs from the mounts of the steps.
func drawArtifacts(d *diagram.Diagram, p *plan.Plan) {
	if len(p.Artifacts) == 0 {
		return
	}
	inputs, diags := config.Pinned(p.Variables)
	m, more := config.Load(p.Sources, inputs, config.Builtins{Workspace: p.Sources.Workspace, PlanTime: p.Created})
	if diags.HasErrors() || more.HasErrors() {
		return // a plan whose manifests cannot be loaded again is drawn without artifacts
	}
	for _, a := range m.Artifacts() {
		n := diagram.Node{ID: artifactPrefix + a.Name, Lines: []string{artifactPrefix + a.Name, a.TypeRef}, Note: a.Range.String()}
		if pin, used := p.Artifacts[a.Name]; used {
			n.Lines = append(n.Lines, artifactlines.ShortVersion(pin.Recipe.Version))
		}
		d.Nodes = append(d.Nodes, n)
	}
	names := map[string]string{}
	for name, pin := range p.Artifacts {
		names[pin.Key] = name
	}
	uses := map[diagram.Edge]bool{}
	for _, r := range m.Resources() {
		for _, e := range inputsOf(m, r) {
			uses[e] = true
		}
	}
	for addr, step := range p.Resources {
		for _, mount := range step.Mounts {
			if key, _, ok := artifact.ParseMount(mount.Source); ok && names[key] != "" {
				uses[diagram.Edge{From: addr, To: artifactPrefix + names[key], Weak: true}] = true
			}
		}
	}
	d.Edges = slices.AppendSeq(d.Edges, maps.Keys(uses))
}
