package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/app/pins"
	"deployster/internal/ui/render"
)

func initCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "download the images of all types and the modules of registries and git, and lock what they are",
		ArgsUsage: "[PATH ...]",
		Description: "From then on plan and apply refuse an image or a module with other content. Keep " + config.LockName + " under " +
			"version control.\n" +
			"Without a lock file, only saved plans pin digests.",
		Flags: slices.Concat(varFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "upgrade", Usage: "lock the digests that the names have now, in the registries and here"},
			askOnFlag(),
		}),
		Action: e.action(runInit),
	}
}

func runInit(c *cli.Context, s *session) error {
	changes, written, err := pins.Init(c.Context, s.engine, inputs(c, s), c.Bool("upgrade"), c.String("host"))
	for _, change := range changes {
		s.out.Printf("%s", render.Lock(change.Name, change.Was, change.Now))
	}
	switch {
	case err != nil:
		return err
	case written:
		s.out.Printf("Wrote %s. Keep it under version control.\n", config.LockName)
	default:
		s.out.Printf("All images and modules are here, and %s is up to date.\n", config.LockName)
	}
	return nil
}
