package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/cli/typetest"
)

func typeCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "type",
		Usage: "inspect and test resource types",
		Subcommands: []*cli.Command{
			{Name: "inspect", Usage: "show the config, the state, the plugs and the features of a type", ArgsUsage: "IMAGE",
				Description: "It runs nothing but the image's init, without network and mounts.",
				Flags: slices.Concat([]cli.Flag{
					&cli.BoolFlag{Name: "json", Usage: "as JSON"},
					&cli.BoolFlag{Name: "schema", Usage: "print only the JSON Schema of the config"},
					askOnFlag(),
				}, varFlags()),
				Action: e.action(inspectType)},
			testCommand(e),
		},
	}
}

func inspectType(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "inspect takes one image: deployster type inspect acme/file:1")
	}
	s.keep = 0
	in := inputs(c, s)
	in.Paths = nil // the argument is an image
	return typetest.Inspect(c, typetest.Session{Engine: s.engine, Out: s.out, Inputs: in})
}
