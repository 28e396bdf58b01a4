package cli

import (
	"errors"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"deployster/containerd"
	"deployster/internal/base/diag"
)

// parallelPulls is how many images are pulled at one time.
const parallelPulls = 4

func pullCommand(e Env) *cli.Command {
	return &cli.Command{Name: "pull", Usage: "fetch images from their registries", ArgsUsage: "IMAGE ...",
		Description: "Credentials are docker's: `docker login` makes them. What was fetched before something went wrong is kept for a day,\n" +
			"and the next pull goes on from there.",
		Action: func(c *cli.Context) error { return withRuntime(c, e, pullImages) }}
}

func pullImages(c *cli.Context, s *session) error {
	if c.NArg() == 0 {
		return diag.Errorf("Wrong command line", "pull takes the names of images: deployster image pull acme/file:1")
	}
	infos, errs := make([]containerd.ImageInfo, c.NArg()), make([]error, c.NArg())
	var group errgroup.Group
	group.SetLimit(parallelPulls)
	for i, ref := range c.Args().Slice() {
		group.Go(func() error {
			infos[i], errs[i] = s.runtime.Pull(c.Context, ref)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	var pulled []containerd.ImageInfo
	for i, err := range errs {
		if err == nil {
			pulled = append(pulled, infos[i])
		}
	}
	if len(pulled) > 0 {
		printImages(s.out, pulled)
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	return errors.Join(errs...)
}
