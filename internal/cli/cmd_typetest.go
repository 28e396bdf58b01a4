package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/cli/typetest"
)

func testCommand(e Env) *cli.Command {
	return &cli.Command{Name: "test", Usage: "test whether an image follows the protocol", ArgsUsage: "IMAGE",
		Description: "It runs everything that deployster ever runs of an image: it really creates, changes and destroys what the config\n" +
			"describes. A resource that exists already is an error, and is not touched. Exit codes: 0 passed, 1 failed.",
		Flags:  slices.Concat(typetest.Flags(), []cli.Flag{askOnFlag()}, varFlags()),
		Action: e.action(testType)}
}

func testType(c *cli.Context, s *session) error {
	if !c.IsSet("source") {
		s.keep = 0 // the test needs fresh containers
	}
	in := inputs(c, s)
	in.Paths = nil // the argument is an image
	code, err := typetest.Run(c, typetest.Session{
		Engine: s.engine, Out: s.out, Err: s.err, Inputs: in, Interactive: s.env.Interactive, Confirm: s.ui.Confirm,
	})
	if err == nil && code != exitDone {
		return exitStatus(code)
	}
	return err
}
