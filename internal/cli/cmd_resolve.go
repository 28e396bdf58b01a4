package cli

import (
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/state/actions"
)

func resolveCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "resolve",
		Usage:     "record the outcome of an interrupted action; without ADDRESS, list those actions",
		ArgsUsage: "[ADDRESS]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "the `OUTCOME`: done or failed"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		Action: e.action(runResolve),
	}
}

func runResolve(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	as := actions.Verdict(c.String("as"))
	switch {
	case c.NArg() == 0 && as == "":
		return listOpen(c, s)
	case c.NArg() == 0:
		return diag.Errorf("Wrong command line",
			"resolve -as=%s takes the address of one resource. `deployster resolve` lists those that have an action whose end is not known.",
			diag.Visible(string(as)))
	case as != actions.Done && as != actions.Failed:
		return diag.Errorf("Wrong command line", "resolve takes -as=done (the action of %s ended well) or -as=failed (it did not).",
			diag.Visible(c.Args().First()))
	}
	done, err := s.engine.Resolve(c.Context, c.Args().First(), as, c.Bool("dry-run"))
	return printEdit(c, s, done, err)
}

// listOpen lists the actions whose outcome is unknown, and changes nothing.
func listOpen(c *cli.Context, s *session) error {
	snapshot, err := s.recorded(c.Context)
	if err != nil {
		return err
	}
	open, running := workspace.OpenActions(snapshot, "", snapshot.Unknown()...), app.StillRunning(c.Context, s.engine, snapshot)
	for i := range open {
		open[i].Running = running[open[i].Key]
	}
	if c.Bool("json") {
		return s.out.Document(workspace.StateEdit{Serial: snapshot.Serial, Open: open})
	}
	if len(open) == 0 {
		s.out.Printf("No actions with an unknown outcome.\n")
	}
	for _, o := range open {
		how := ""
		if o.Running {
			how = ". It still runs: `deployster apply` waits for its end."
		}
		s.out.Printf("%s: %s, started at %s by %s%s\n", diag.Visible(o.Address), diag.Visible(o.Action), o.Started.Format(time.RFC3339),
			diag.Visible(o.By.String()), how)
	}
	return nil
}
