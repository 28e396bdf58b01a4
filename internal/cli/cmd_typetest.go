package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/typetest"
)

func testCommand(e Env) *cli.Command {
	return &cli.Command{Name: "test", Usage: "test whether an image follows the protocol", ArgsUsage: "IMAGE",
		Description: "It runs everything that deployster ever runs of an image: it really creates, changes and destroys what the config\n" +
			"describes. A resource that exists already is an error, and is not touched. Exit codes: 0 passed, 1 failed.",
		Flags:  typetest.Flags(),
		Action: e.action(testType)}
}

func testType(c *cli.Context, s *session) error {
	if !c.IsSet("source") {
		s.keep = 0 // the test needs fresh containers
	}
	code, err := typetest.Run(c, typetest.Session{
		Engine: s.engine, Out: s.out, Err: s.err, Interactive: s.env.Interactive,
		Confirm: s.ui.Confirm,
	})
	if err == nil && code != exitDone {
		return exitStatus(code)
	}
	return err
}
