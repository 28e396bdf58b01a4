package states

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/transfer"
	"deployster/internal/base/diag"
)

// transferTo transfers resources to the state of another project.
func transferTo(c *cli.Context, s Session) error {
	o := transfer.Options{Addresses: c.Args().Slice(), To: c.String("to"), As: c.String("as"), DryRun: c.Bool("dry-run"),
		Cancel: c.Bool("cancel")}
	switch {
	case o.To == "" && !o.Cancel:
		return diag.Errorf("Missing flag", "state transfer needs -to, the state of the other project: a URL, or the path of a file.")
	case len(o.Addresses) == 0 && !o.Cancel:
		return diag.Errorf("Missing argument",
			"state transfer takes the addresses of what is given to the other state. `deployster state list` "+
				"lists them.")
	case o.Cancel && o.As != "":
		return diag.Errorf("Conflicting flags", "-cancel ends an interrupted transfer: -as has no meaning with it.")
	}
	done, err := transfer.Run(c.Context, s.Engine.Workspace, o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(done)
	}
	s.Out.Printf("%s\n", transfer.Sentence(done))
	if !done.DryRun && !done.Canceled {
		s.Out.Printf("Now move the blocks to the other project, and plan both.\n")
	}
	return nil
}
