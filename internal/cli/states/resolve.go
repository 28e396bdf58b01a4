package states

import (
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/resolving"
	"deployster/internal/app/stateedit"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/state/actions"
)

// ResolveCommand returns the command for actions whose outcome is unknown. action makes a cli
// action of a function that runs in a session.
func ResolveCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:      "resolve",
		Usage:     "record the outcome of an interrupted action; without ADDRESS, list those actions",
		ArgsUsage: "[ADDRESS]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "the `OUTCOME`: done or failed"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		Action: action(resolve),
	}
}

func resolve(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 1); err != nil {
		return err
	}
	as := actions.Verdict(c.String("as"))
	switch {
	case c.NArg() == 0 && as == "":
		return listOpen(c, s)
	case c.NArg() == 0:
		return diag.Errorf("Wrong number of arguments",
			"resolve -as=%s takes the address of one resource. `deployster resolve` lists those with an unknown outcome.",
			diag.Visible(string(as)))
	case as != actions.Done && as != actions.Failed:
		return diag.Errorf("Missing flag", "resolve takes -as=done (the action of %s ended well) or -as=failed (it did not).",
			diag.Visible(c.Args().First()))
	}
	done, err := resolving.Resolve(c.Context, s.Engine, c.Args().First(), as, c.Bool("dry-run"))
	return printEdit(c, s, done, err)
}

// listOpen lists the actions whose outcome is unknown, and changes nothing.
func listOpen(c *cli.Context, s Session) error {
	snapshot, err := Recorded(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	open, running := stateedit.OpenActions(snapshot, "", snapshot.Unknown()...), resolving.StillRunning(c.Context, s.Engine, snapshot)
	for i := range open {
		open[i].Running = running[open[i].Key]
	}
	if c.Bool("json") {
		return s.Out.Document(stateedit.StateEdit{Serial: snapshot.Serial, Open: open})
	}
	if len(open) == 0 {
		s.Out.Printf("No actions with an unknown outcome.\n")
	}
	for _, o := range open {
		how := ""
		if o.Running {
			how = ". It still runs: `deployster apply` waits for its end."
		}
		s.Out.Printf("%s: %s, started at %s by %s%s\n", diag.Visible(o.Address), diag.Visible(o.Action), o.Started.Format(time.RFC3339),
			diag.Visible(o.By.String()), how)
	}
	return nil
}
