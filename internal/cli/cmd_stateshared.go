package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/sharedstate"
)

// sharedStateCommands returns the commands for the place of a state and its users.
func sharedStateCommands(e Env) []*cli.Command {
	return []*cli.Command{
		{Name: "status", Usage: "show where the state is and who uses it", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
			Action: e.action(runStateStatus)},
		{Name: "unlock", Usage: "end a claim on a shared state; its holder can record nothing more", ArgsUsage: "CLAIM",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask"}},
			Action: e.action(runStateUnlock)},
		{Name: "move", Usage: "move the state and its backups to a URL or a file", ArgsUsage: "TO",
			Action: e.action(runStateMoveTo)},
	}
}

func runStateStatus(c *cli.Context, s *session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	status, err := workspace.Status(c.Context, s.Workspace)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.out.Document(status)
	}
	sharedstate.Print(s.out, status)
	return nil
}

func runStateUnlock(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state unlock takes the claim that is to be ended. `deployster state status` says it.")
	}
	if _, err := workspace.Claimable(s.Workspace); err != nil {
		return err
	}
	if !c.Bool("yes") {
		yes, err := s.ui.Confirm(c.Context, "End the claim "+diag.Visible(c.Args().First())+
			"? Who has it can record nothing more, and what it has begun is left open. If it is a process of this machine, it is ended.", false)
		if err != nil {
			return err
		}
		if !yes {
			return diag.Errorf("Not unlocked", "Nothing was changed. Without a terminal -yes answers the question.")
		}
	}
	if err := workspace.Unlock(c.Context, s.Workspace, c.Args().First()); err != nil {
		return err
	}
	s.out.Printf("Unlocked. Who had the state can record nothing more.\n")
	return nil
}

func runStateMoveTo(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "state move takes the URL or the file to which the state is to move.")
	}
	copies, err := workspace.MoveState(c.Context, s.Workspace, c.Args().First())
	if err != nil {
		return err
	}
	s.out.Printf("The state is at %s now, with %s. Say so in the manifest or by -state.\n", diag.Visible(c.Args().First()),
		words.Count(copies, "earlier serial"))
	return nil
}
