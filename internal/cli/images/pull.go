package images

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/images"
	"deployster/internal/base/diag"
)

func pullCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{Name: "pull", Usage: "download images from their registries", ArgsUsage: "IMAGE ...",
		Description: "Credentials are docker's: `docker login` stores them. A pull that failed is resumed by the next\n" +
			"one within a day.",
		Action: action(pullImages)}
}

func pullImages(c *cli.Context, s Session) error {
	if c.NArg() == 0 {
		return diag.Errorf("Missing argument", "pull takes the names of images: deployster image pull acme/file:1")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	pulled, err := images.Pull(c.Context, store, c.Args().Slice())
	if len(pulled) > 0 {
		printImages(s.Out, pulled)
	}
	return err
}
