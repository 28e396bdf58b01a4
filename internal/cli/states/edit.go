package states

import (
	"io"
	"os"
	"strconv"
	"strings"

	"deployster/internal/app/stateedit"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"

	"github.com/urfave/cli/v2"
)

// printEdit prints what a command has changed in the state, or would change.
func printEdit(c *cli.Context, s Session, done stateedit.StateEdit, err error) error {
	sentence := strings.TrimSuffix(done.Sentence(), ".")
	switch {
	case err != nil:
		return err
	case c.Bool("json"):
		return s.Out.Document(done)
	case done.DryRun:
		s.Out.Printf("%s\n", done.Sentence())
	case done.Kept == 0: // no state existed before
		s.Out.Printf("%s (serial %d).\n", sentence, done.Serial)
	default:
		s.Out.Printf("%s (serial %d). Undo: deployster state restore %d\n", sentence, done.Serial, done.Kept)
	}
	return nil
}

func remove(c *cli.Context, s Session) error {
	if c.NArg() == 0 {
		return diag.Errorf("Missing argument", "state rm takes the addresses of the resources to forget. `deployster state list` lists "+
			"them.")
	}
	done, err := stateedit.NewEditor(s.Engine.Workspace, c.Bool("dry-run")).Forget(c.Context, c.Args().Slice())
	return printEdit(c, s, done, err)
}

func move(c *cli.Context, s Session) error {
	if c.NArg() != 2 {
		return diag.Errorf("Wrong number of arguments",
			"state mv takes two addresses, the old and the new one, of a resource, an instance or a module. `deployster state list` "+
				"lists all addresses.")
	}
	done, err := stateedit.NewEditor(s.Engine.Workspace, c.Bool("dry-run")).Move(c.Context, c.Args().Get(0), c.Args().Get(1))
	return printEdit(c, s, done, err)
}

func push(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "state push takes one state file, or - for stdin.")
	}
	name := c.Args().First()
	content := func() ([]byte, error) {
		if name == "-" {
			return io.ReadAll(s.Stdin)
		}
		data, err := os.ReadFile(s.Engine.Workspace.Path(name))
		if err != nil {
			return nil, diag.Errorf("Cannot read the file", "%s.", err)
		}
		return data, nil
	}
	done, err := stateedit.NewEditor(s.Engine.Workspace, c.Bool("dry-run")).Push(c.Context, name, content, c.Bool("force"))
	return printEdit(c, s, done, err)
}

func restore(c *cli.Context, s Session) error {
	serial, err := strconv.ParseUint(c.Args().First(), 10, 64)
	if c.NArg() != 1 || err != nil {
		return diag.Errorf("Invalid argument", "state restore takes the serial of a kept copy. `deployster state copies` lists them.")
	}
	got, err := stateedit.Restore(c.Context, s.Engine.Workspace, serial)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(stateedit.StateEdit{Serial: got.Snapshot.Serial, Restored: serial, Aside: got.Aside})
	}
	s.Out.Printf("The state is the copy with the serial %d again (%s), under the serial %d.\n", serial,
		words.Count(len(got.Snapshot.Resources), "resource"), got.Snapshot.Serial)
	if got.Aside != "" {
		s.Out.Printf("The replaced state is now %s.\n", got.Aside)
	}
	if got.Journal {
		s.Out.Printf("An interrupted apply had started from it. The next apply adds what that recorded.\n")
	}
	return nil
}
