package planpage

import (
	"deployster/config"
	"deployster/internal/ui/diagram"
)

// Declared returns a drawing of what manifests declare. A block whose instances are not
// known yet is one node.
func Declared(m *config.Manifest) diagram.Diagram {
	d := diagram.Diagram{Title: "deployster"}
	for _, r := range m.Resources() {
		group, name := SplitModules(r.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: r.Address, Group: group, Lines: []string{name, r.TypeRef}, Note: r.Range.String()})
		for _, edge := range r.Edges {
			d.Edges = append(d.Edges, diagram.Edge{From: r.Address, To: edge.To, Weak: edge.Origin == config.FromDependsOn})
		}
	}
	for _, block := range m.Pending() {
		group, name := SplitModules(block.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: block.Address, Group: group, Lines: []string{name + "[...]", "known later"},
			Note: block.Range.String()})
		for _, needed := range block.Needs {
			d.Edges = append(d.Edges, diagram.Edge{From: block.Address, To: needed})
		}
	}
	return d
}
