package plans

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/savedplan"
	"deployster/internal/base/diag"
	"deployster/internal/ui/diagram"
	"deployster/internal/ui/planpage"
)

// GraphCommand returns the command that draws dependencies. variables are the flags for values of variables.
func GraphCommand(action func(Run) cli.ActionFunc, variables []cli.Flag) *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw the dependencies in manifests or in a saved plan",
		ArgsUsage: "[PATH ... | PLAN]",
		Description: "An arrow points at a dependency. No image is run. The drawing goes to standard output:\n" +
			"  deployster graph | dot -Tpng > graph.png\n" +
			"  deployster graph -format=svg plan.bin > plan.svg",
		Flags: slices.Concat(variables, []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "dot", Usage: "`FORMAT` is dot (Graphviz), mermaid or svg"},
		}),
		Action: action(graph),
	}
}

func graph(c *cli.Context, s Session) error {
	formats := map[string]func(diagram.Diagram) string{"dot": diagram.Diagram.DOT, "mermaid": diagram.Diagram.Mermaid,
		"svg": diagram.Diagram.SVG}
	draw := formats[c.String("format")]
	if draw == nil {
		return diag.Errorf("Invalid flag value", "-format must be dot, mermaid or svg, not %q.", diag.Visible(c.String("format")))
	}
	d := diagram.Diagram{}
	if savedplan.IsPlan(s.Engine.Workspace, c.Args().Slice()) {
		p, _, err := savedplan.Read(s.Engine.Workspace, c.Args().First())
		if err != nil {
			return err
		}
		d = planpage.Diagram(p)
	} else {
		m, err := s.Engine.Workspace.CheckedManifest(c.Context, s.Inputs)
		if err != nil {
			return err
		}
		d = planpage.Declared(m)
	}
	s.Out.Printf("%s", draw(d))
	return nil
}
