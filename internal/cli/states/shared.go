package states

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/sharedstate"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
)

// sharedCommands returns the commands for the place of a state and its users.
func sharedCommands(action func(Run) cli.ActionFunc) []*cli.Command {
	return []*cli.Command{
		{Name: "status", Usage: "show where the state is and who uses it", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
			Action: action(showStatus)},
		{Name: "unlock", Usage: "end a claim on a shared state; its holder can record nothing more", ArgsUsage: "CLAIM",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not prompt"}},
			Action: action(unlock)},
		{Name: "transfer", Usage: "give resources to the state of another project", ArgsUsage: "ADDRESS ...", Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the other state: `URL-OR-FILE`"},
			&cli.StringFlag{Name: "as", Usage: "the address there: `NEW`"},
			&cli.BoolFlag{Name: "cancel", Usage: "cancel an interrupted transfer"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be done, and change nothing"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"}},
			Action: action(transferTo)},
		{Name: "move", Usage: "move the state and its backups to a URL or a file", ArgsUsage: "TO",
			Action: action(moveTo)},
	}
}

func showStatus(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	status, err := sharedstate.Status(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(status)
	}
	printStatus(s.Out, status)
	return nil
}

func unlock(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "state unlock takes the claim that is to be ended. `deployster state status` "+
			"prints it.")
	}
	if _, err := sharedstate.Claimable(s.Engine.Workspace); err != nil {
		return err
	}
	if !c.Bool("yes") {
		yes, err := s.Confirm(c.Context, "End the claim "+diag.Visible(c.Args().First())+
			"? Its holder can record nothing more, and its open actions are not settled. If the holder is a process of this "+
			"machine, it is ended.", false)
		if err != nil {
			return err
		}
		if !yes {
			return diag.Errorf("Not unlocked", "Nothing was changed. Without a terminal -yes answers the question.")
		}
	}
	if err := sharedstate.Unlock(c.Context, s.Engine.Workspace, c.Args().First()); err != nil {
		return err
	}
	s.Out.Printf("Unlocked. The former holder can record nothing more.\n")
	return nil
}

func moveTo(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "state move takes the URL or the file to which the state is to move.")
	}
	copies, err := sharedstate.MoveState(c.Context, s.Engine.Workspace, c.Args().First())
	if err != nil {
		return err
	}
	s.Out.Printf("The state is at %s now, with %s. Write this into the manifest or -state.\n", diag.Visible(c.Args().First()),
		words.Count(copies, "earlier serial"))
	return nil
}
