package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runner/imagestore"
	"deployster/internal/ui/terminal"
)

func imageCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:            "image",
		HideHelpCommand: true,
		Usage:           "pull, bring in, make and list the images of resource types",
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list the images that are here",
				Action: e.action(listImages)},
			pullCommand(e),
			{Name: "import", Usage: "bring in a tar of docker save or of an OCI layout", ArgsUsage: "FILE|-",
				Action: e.action(importImages)},
			packCommand(e),
			removeCommand(e),
			pruneCommand(e),
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

// store connects to the containerd whose images a command is about.
func (s *session) store(ctx context.Context) (images.Store, error) {
	s.keep = 0 // of these commands only a test of a type starts anything that lasts, and it is to have that fresh
	if _, err := s.Runtime(ctx); err != nil {
		return nil, err
	}
	return s.containerd, nil
}

func listImages(c *cli.Context, s *session) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	store, err := s.store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Images(c.Context)
	if err != nil {
		return err
	}
	printImages(s.out, list)
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

func importImages(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "import takes one file, or - for standard input.")
	}
	in := io.Reader(s.env.Stdin)
	if name := c.Args().First(); name != "-" {
		f, err := os.Open(s.Path(name))
		if err != nil {
			return diag.Errorf("Cannot read the image file", "%s.", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	store, err := s.store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Import(c.Context, in)
	if err != nil {
		return err
	}
	printImages(s.out, list)
	return nil
}
