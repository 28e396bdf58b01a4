package modules

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/modules"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/terminal"
)

// Packer makes images of files.
type Packer = modules.Packer

// Session is the session in which a command runs.
type Session struct {
	Engine *app.Engine
	Out    terminal.Printer
	// Store connects to what has the images of a command.
	Store func(context.Context) (Packer, error)
}

// Run runs a command.
type Run func(*cli.Context, Session) error

// Command returns the command. action makes a cli action of a function that runs in a session.
func Command(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:  "module",
		Usage: "pack modules as images, and list those that are pinned",
		Subcommands: []*cli.Command{
			{Name: "pack", Usage: "create an image of the modules in a directory, for module blocks with oci://", ArgsUsage: "DIR",
				Description: "`deployster image push` publishes it. The same files give the same digest, for all platforms.",
				Flags:       []cli.Flag{&cli.StringFlag{Name: "t", Aliases: []string{"tag"}, Usage: "`NAME` of the image"}},
				Action:      action(pack)},
			{Name: "list", Usage: "list the modules that " + config.LockName + " pins, and where they are kept",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: action(list)},
		},
	}
}

func pack(c *cli.Context, s Session) error {
	if c.NArg() != 1 || c.String("t") == "" {
		return diag.Errorf("Missing argument", "pack takes the image's name and one directory: deployster module pack -t "+
			"registry.example.com/acme/web:1.2 web")
	}
	from := c.Args().First()
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	image, left, err := modules.Pack(c.Context, store, c.String("t"), s.Engine.Workspace.Path(from), from)
	if err != nil {
		return err
	}
	if note := modules.LeftOut(left); note != "" {
		s.Engine.Workspace.Note("%s", note)
	}
	s.Out.Table("", [][]string{{"NAME", "DIGEST"}, {image.Name, image.Digest}})
	return nil
}

func list(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	w := s.Engine.Workspace
	lock, diags := config.ReadLock(w.Dir)
	if diags.HasErrors() {
		return diags
	}
	found := modules.List(lock, w.CacheDir)
	if c.Bool("json") {
		return s.Out.Document(append([]modules.Kept{}, found...))
	}
	if len(found) == 0 {
		s.Out.Printf("%s pins no modules.\n", config.LockName)
		return nil
	}
	rows := [][]string{{"SOURCE", "PIN", "KEPT IN"}}
	for _, k := range found {
		where := cmp.Or(k.Dir, "(not here: the next plan fetches it)")
		if k.Fault != "" {
			where += " (changed: init fetches it again)"
		}
		rows = append(rows, []string{k.Source, k.Pin(), where})
	}
	s.Out.Table("", rows)
	return nil
}
