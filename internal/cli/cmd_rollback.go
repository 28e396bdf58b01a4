package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
)

func rollbackCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "rollback",
		Usage: "go back to the manifests of an earlier apply",
		Description: "It plans from the manifests, variables and images of the apply that made the state -to, with today's states, " +
			"shows that,\n" +
			"prompts for approval, and applies it. `deployster state history` lists serials.\n" +
			"Exit codes: 0 done, 1 error or incomplete, 130 interrupted.",
		Flags: slices.Concat([]cli.Flag{&cli.Uint64Flag{Name: "to", Usage: "the `SERIAL` of the state that the apply has made"}},
			planSelectionFlags(), applyFlags(), eventFlags()),
		Action: e.action(runRollback),
	}
}

func runRollback(c *cli.Context, s *session) error {
	switch {
	case c.NArg() > 0:
		return diag.Errorf("Unexpected argument", "rollback takes no arguments: its manifests are those of the apply that -to names.")
	case !c.IsSet("to"):
		return diag.Errorf("Missing flag", "rollback takes -to=SERIAL: `deployster state history` lists the serials of applies.")
	}
	o, to := applyOptions(c, s), c.Uint64("to")
	o.Back = &to
	return applied(s.engine.Apply(c.Context, o))
}
