package planpage

import (
	"deployster/config"
	"deployster/internal/ui/diagram"
)

// Declared returns a drawing of the declarations in manifests. A block whose instances
// are unknown yet is one node; so is an artifact, although it is not a step of a plan.
func Declared(m *config.Manifest) diagram.Diagram {
	d := diagram.Diagram{Title: "deployster"}
	for _, a := range m.Artifacts() {
		d.Nodes = append(d.Nodes, diagram.Node{ID: artifactPrefix + a.Name, Lines: []string{artifactPrefix + a.Name, a.TypeRef}})
	}
	for _, r := range m.Resources() {
		group, name := SplitModules(r.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: r.Address, Group: group, Lines: []string{name, r.TypeRef}, Note: r.Range.String()})
		for _, edge := range r.Edges {
			d.Edges = append(d.Edges, diagram.Edge{From: r.Address, To: edge.To, Weak: edge.Origin.OrderOnly()})
		}
		d.Edges = append(d.Edges, inputsOf(m, r)...)
	}
	for _, block := range m.Pending() {
		group, name := SplitModules(block.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: block.Address, Group: group, Lines: []string{name + "[...]", "known later"},
			Note: block.Range.String()})
		for _, needed := range block.Needs {
			d.Edges = append(d.Edges, diagram.Edge{From: block.Address, To: needed})
		}
		for _, name := range block.Artifacts {
			d.Edges = append(d.Edges, diagram.Edge{From: block.Address, To: artifactPrefix + name, Weak: true})
		}
	}
	return d
}

const artifactPrefix = "artifact."

// inputsOf returns the edges to the artifacts that a resource uses. They do not delay the
// resource, so they are dashed.
func inputsOf(m *config.Manifest, r *config.Resource) (list []diagram.Edge) {
	add := func(name string) {
		if name != "" {
			list = append(list, diagram.Edge{From: r.Address, To: artifactPrefix + name, Weak: true})
		}
	}
	for _, name := range r.Artifacts {
		add(name)
	}
	if r.Publish == nil {
		return list
	}
	add(r.Publish.Artifact)
	shown := map[string]string{}
	for _, p := range m.Plugs() {
		shown[p.Name] = p.Artifact
	}
	for _, in := range r.Publish.Inputs {
		add(in.Artifact)
		add(shown[in.Plug])
	}
	return list
}
