package cli

import (
	"cmp"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

func imageCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:            "image",
		HideHelpCommand: true,
		Usage:           "pull, bring in, make and list the images of resource types",
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list the images that are here",
				Action: func(c *cli.Context) error { return withRuntime(c, e, listImages) }},
			pullCommand(e),
			{Name: "import", Usage: "bring in a tar of docker save or of an OCI layout", ArgsUsage: "FILE|-",
				Action: func(c *cli.Context) error { return withRuntime(c, e, importImages) }},
			packCommand(e),
			removeCommand(e),
			pruneCommand(e),
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

// withRuntime gives a command a connection to containerd.
func withRuntime(c *cli.Context, e Env, run func(*cli.Context, *session) error) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	defer s.close()
	s.keep = 0 // of these commands only a test of a type starts anything that lasts, and it is to have that fresh
	if err := s.open(c.Context, c); err != nil {
		return err
	}
	return run(c, s)
}

func listImages(c *cli.Context, s *session) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	images, err := s.runtime.Images(c.Context)
	if err != nil {
		return err
	}
	printImages(s.out, images)
	return nil
}

// printImages prints a table of images.
func printImages(p terminal.Printer, list []containerd.ImageInfo) {
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
		f, err := os.Open(s.path(name))
		if err != nil {
			return diag.Errorf("Cannot read the image file", "%s.", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	images, err := s.runtime.Import(c.Context, in)
	if err != nil {
		return err
	}
	printImages(s.out, images)
	return nil
}
