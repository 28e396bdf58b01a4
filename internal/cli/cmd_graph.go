package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/ui/diagram"
	"deployster/internal/ui/planpage"
)

func graphCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw what depends on what, in manifests or in a saved plan",
		ArgsUsage: "[PATH ... | PLAN]",
		Description: "An arrow points at what is needed. It runs no image. The drawing goes to standard output:\n" +
			"  deployster graph | dot -Tpng > graph.png\n" +
			"  deployster graph -format=svg plan.bin > plan.svg",
		Flags: slices.Concat(varFlags(), []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "dot", Usage: "`FORMAT` is dot (Graphviz), mermaid or svg"},
			&cli.StringFlag{Name: "direction", Value: "down", Usage: "`DIRECTION` in which what comes later stands: down or right"},
		}),
		Action: func(c *cli.Context) error { return runGraph(c, e) },
	}
}

func runGraph(c *cli.Context, e Env) error {
	formats := map[string]func(diagram.Diagram) string{"dot": diagram.Diagram.DOT, "mermaid": diagram.Diagram.Mermaid, "svg": diagram.Diagram.SVG}
	draw, direction := formats[c.String("format")], c.String("direction")
	if draw == nil {
		return diag.Errorf("Wrong command line", "-format is dot, mermaid or svg, and not %q.", diag.Visible(c.String("format")))
	}
	if direction != "down" && direction != "right" {
		return diag.Errorf("Wrong command line", "-direction is down or right, and not %q.", diag.Visible(direction))
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	d := diagram.Diagram{}
	if s.isPlanFile(c) {
		p, _, err := s.readPlan(c.Args().First())
		if err != nil {
			return err
		}
		d = planpage.Diagram(p)
	} else {
		m, diags, err := s.read(c, config.Check)
		if err != nil {
			return err
		}
		if m, err = s.loaded(m, diags); err != nil {
			return err
		}
		d = manifestDiagram(m)
	}
	d.Rightwards = direction == "right"
	s.out.Printf("%s", draw(d))
	return nil
}

// manifestDiagram draws what manifests declare. A block whose instances are not
// known yet is one node.
func manifestDiagram(m *config.Manifest) diagram.Diagram {
	d := diagram.Diagram{Title: "deployster"}
	for _, r := range m.Resources() {
		group, name := planpage.SplitModules(r.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: r.Address, Group: group, Lines: []string{name, r.TypeRef}, Note: r.Range.String()})
		for _, edge := range r.Edges {
			d.Edges = append(d.Edges, diagram.Edge{From: r.Address, To: edge.To, Weak: edge.Origin == config.FromDependsOn})
		}
	}
	for _, block := range m.Pending() {
		group, name := planpage.SplitModules(block.Address)
		d.Nodes = append(d.Nodes, diagram.Node{ID: block.Address, Group: group, Lines: []string{name + "[...]", "known later"}, Note: block.Range.String()})
		for _, needed := range block.Needs {
			d.Edges = append(d.Edges, diagram.Edge{From: block.Address, To: needed})
		}
	}
	return d
}
