package cli

import (
	"cmp"
	"context"
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
		Name:  "image",
		Usage: "pull, push, pack, import and list the images of resource types",
		Subcommands: []*cli.Command{
			{Name: "ls", Usage: "list the images on this machine", Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: e.action(listImages)},
			pullCommand(e),
			{Name: "import", Usage: "import images from docker save or an OCI layout", ArgsUsage: "FILE|DIR|-",
				Flags:  []cli.Flag{&cli.StringFlag{Name: "t", Aliases: []string{"tag"}, Usage: "`NAME` for the image, if there is one in it"}},
				Action: e.action(importImages)},
			{Name: "tag", Usage: "give an image other names", ArgsUsage: "SOURCE TARGET ...", Action: e.action(tagImage)},
			{Name: "push", Usage: "push an image to its registry", ArgsUsage: "NAME", Action: e.action(pushImage)},
			{Name: "save", Usage: "save an image as a tar or an OCI layout", ArgsUsage: "NAME FILE|DIR|-", Action: e.action(saveImage)},
			packCommand(e),
			removeCommand(e),
			pruneCommand(e),
		},
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
	if c.Bool("json") {
		return s.out.Document(append([]imagestore.Image{}, list...))
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
		return diag.Errorf("Wrong command line", "import takes one file or directory, or - for standard input.")
	}
	in, err := images.OpenArchive(c.Args().First(), s.Path, s.env.Stdin)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	store, err := s.store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Import(c.Context, in)
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
	printImages(s.out, list)
	return nil
}
