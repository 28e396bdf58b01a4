package images

import (
	"cmp"
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/terminal"
)

// Store has the images that a command manages.
type Store = images.Store

// Session is the session in which a command runs.
type Session struct {
	Engine      *app.Engine
	Out, Err    terminal.Printer // Out is for results, Err for everything else
	Interactive bool             // a person can be prompted on the terminal
	Confirm     func(ctx context.Context, question string, whole bool) (bool, error)
	// Store connects to what has the images of a command.
	Store func(context.Context) (Store, error)
}

// Run runs a command.
type Run func(*cli.Context, Session) error

// Command returns the command. action makes a cli action of a function that runs in a session.
func Command(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:  "image",
		Usage: "pull, push, pack, import and list the images of resource types",
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list the images on this machine", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: action(listImages)},
			pullCommand(action),
			{Name: "import", Usage: "import images from docker save or an OCI layout", ArgsUsage: "FILE|DIR|-",
				Flags: []cli.Flag{&cli.StringFlag{Name: "t", Aliases: []string{"tag"}, Usage: "`NAME` for the image; FILE " +
					"must have exactly one"}},
				Action: action(importImages)},
			{Name: "tag", Usage: "give an image other names", ArgsUsage: "IMAGE NAME ...", Action: action(tagImage)},
			{Name: "push", Usage: "push an image to its registry", ArgsUsage: "IMAGE", Action: action(pushImage)},
			{Name: "push-agent", Usage: "push the image of the program that runs in the Pods of a cluster", ArgsUsage: "REGISTRY/NAME",
				Action: action(pushAgent)},
			{Name: "save", Usage: "save an image as a tar or an OCI layout", ArgsUsage: "IMAGE FILE|DIR|-", Action: action(saveImage)},
			packCommand(action),
			removeCommand(action),
			pruneCommand(action),
		},
	}
}

func listImages(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Images(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return s.Out.Document(append([]imagestore.Image{}, list...))
	}
	printImages(s.Out, list)
	return nil
}

// printImages prints a table of images.
func printImages(p terminal.Printer, list []imagestore.Image) {
	rows := [][]string{{"NAME", "DIGEST", "SIZE", "CREATED", "FROM"}}
	for _, i := range list {
		created := "-"
		if !i.Created.IsZero() && i.Created.Unix() != 0 {
			created = i.Created.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{i.Name, i.Digest, words.Bytes(i.Size), created, cmp.Or(i.From, "-")})
	}
	p.Table("", rows)
}

func importImages(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "import takes one file or directory, or - for standard input.")
	}
	in, err := images.OpenArchive(c.Args().First(), s.Engine.Workspace.Path, s.Engine.Workspace.Options.Stdin)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Import(c.Context, in, func(name string, why error) {
		s.Engine.Workspace.Warn(diag.Warningf("An image was not imported", "%s: %s.", diag.Visible(name), diag.Visible(why.Error())))
	})
	if err != nil {
		return err
	}
	if name := c.String("t"); name != "" && len(list) > 1 {
		return diag.Errorf("More than one image", "-t names one image, and there are %d in %s: they keep their own names.", len(list),
			c.Args().First())
	} else if name != "" {
		if list, err = store.Tag(c.Context, list[0].Digest, []string{name}); err != nil {
			return err
		}
	}
	printImages(s.Out, list)
	return nil
}
