package planpage

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"deployster/config"
	"deployster/internal/base/words"
	"deployster/internal/ui/diagram"
	"deployster/plan"
	"deployster/plan/order"
)

// maxDrawn is the number of boxes of a graph that a person can still read.
const maxDrawn = 150

// Diagram returns a drawing of all resources of a plan, and of the artifacts.
func Diagram(p *plan.Plan) diagram.Diagram {
	d := diagram.Diagram{Title: "deployster plan"}
	for addr, step := range p.Resources {
		group, name := SplitModules(addr)
		kind := kindOf(step)
		what := string(kind.Word)
		if step.Expected() != "" {
			what += ", expected"
		}
		if step.Certainty == plan.MayChange && step.Change() != plan.Valid {
			what += ", may change"
		}
		d.Nodes = append(d.Nodes, diagram.Node{ID: addr, Group: group, Kind: string(kind.Class), Lines: []string{name, step.Type, what},
			Note: step.Source})
	}
	for _, edge := range p.Edges {
		d.Edges = append(d.Edges, arrow(edge, edge.To, edge.From))
	}
	drawArtifacts(&d, p)
	return d
}

// arrow returns an edge from a dependant to its dependency. A removal comes before its
// dependencies, so an edge of a removal has them in reverse.
func arrow(e plan.Edge, later, earlier string) diagram.Edge {
	if e.Origin == order.Removal {
		later, earlier = earlier, later
	}
	return diagram.Edge{From: later, To: earlier, Weak: config.Origin(e.Origin).OrderOnly()}
}

// graphic is the graph of a page.
type graphic struct {
	Open  bool
	SVG   template.HTML // "" = it has too many boxes
	Boxes text          // what each box represents
}

// graph draws the resources of a plan, or if those are too many, its blocks with all
// their instances.
func (v *view) graph() *graphic {
	if len(v.plan.Edges)+len(v.plan.Artifacts) == 0 {
		return nil
	}
	if n := len(v.plan.Resources); n <= maxDrawn {
		d := Diagram(v.plan)
		for i := range d.Nodes {
			if d.Nodes[i].Link = v.link(d.Nodes[i].ID); strings.HasPrefix(d.Nodes[i].ID, artifactPrefix) {
				d.Nodes[i].Link = v.link("_artifacts")
			}
		}
		return &graphic{Open: n <= 30, SVG: v.svg(d), Boxes: "resource"}
	}
	if d := v.blocks(); len(d.Nodes) <= maxDrawn {
		return &graphic{SVG: v.svg(d), Boxes: "block, with all its instances"}
	}
	return &graphic{}
}

// svg draws a diagram. It hides secrets in the texts before drawing: to hide them in the
// SVG could also hide parts of its markup.
func (v *view) svg(d diagram.Diagram) template.HTML {
	for i, n := range d.Nodes {
		for j := range n.Lines {
			n.Lines[j] = string(v.text(n.Lines[j]))
		}
		for j := range n.Group {
			n.Group[j] = string(v.text(n.Group[j]))
		}
		d.Nodes[i].Note = string(v.text(n.Note))
	}
	return template.HTML(d.SVG())
}

// link returns the link to a resource on the page.
func (v *view) link(addr string) string { return (&url.URL{Fragment: string(v.text(addr))}).String() }

// blockOf returns the block of an instance: web of web["a"].
func blockOf(addr string) (group []string, name string) {
	group, name = SplitModules(addr)
	if block, _, ok := strings.Cut(name, "["); ok {
		name = block + "[...]"
	}
	return group, name
}

// blocks returns a drawing with a box for each block.
func (v *view) blocks() diagram.Diagram {
	p := v.plan
	d := diagram.Diagram{Title: "deployster plan"}
	id := func(addr string) string {
		group, name := blockOf(addr)
		return strings.Join(append(group, name), ".")
	}
	members := map[string]map[text]int{}
	for _, addr := range p.Order() {
		key := id(addr)
		if members[key] == nil {
			members[key] = map[text]int{}
			group, name := blockOf(addr)
			d.Nodes = append(d.Nodes, diagram.Node{ID: key, Group: group, Lines: []string{name}, Link: v.link(addr)})
		}
		members[key][kindOf(p.Resources[addr]).Class]++
	}
	for i, n := range d.Nodes {
		for _, k := range kinds {
			count := members[n.ID][k.Class]
			if count == 0 {
				continue
			}
			d.Nodes[i].Lines = append(d.Nodes[i].Lines, fmt.Sprintf("%s %s", words.Thousands(count), k.many))
			d.Nodes[i].Kind = cmp.Or(d.Nodes[i].Kind, string(k.Class)) // the first one is the most important
		}
	}
	for _, e := range p.Edges {
		d.Edges = append(d.Edges, arrow(e, id(e.To), id(e.From)))
	}
	return d
}

// SplitModules splits an address into modules and name: module.a["x.y"].web is web in
// module.a["x.y"].
func SplitModules(address string) (modules []string, name string) {
	const prefix = "module."
	for strings.HasPrefix(address, prefix) {
		end := len(prefix)
		for quoted := false; end < len(address) && (quoted || address[end] != '.'); end++ {
			switch address[end] {
			case '\\':
				end++
			case '"':
				quoted = !quoted
			}
		}
		if end >= len(address) {
			break
		}
		modules, address = append(modules, address[:end]), address[end+1:]
	}
	return modules, address
}
