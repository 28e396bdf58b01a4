package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/standalone"
)

func casesCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run the tests of manifests, without root, a container or a state",
		ArgsUsage: "[FILE.test.hcl | DIR ...]",
		Description: "A file whose name ends in .test.hcl has case blocks: variables, a world of existing objects, and what the plan " +
			"must be.\n" +
			"Without arguments it runs those of the working directory. The environment's variables are not read.\n" +
			"Exit codes: 0 all passed, 1 one failed or there was an error.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run only the cases with names that match this `REGEXP`, and those that they follow"},
			&cli.StringFlag{Name: "junit", Usage: "write the results to `FILE` too, as JUnit's XML"},
		},
		Action: e.action(runTest),
	}
}

func runTest(c *cli.Context, s *session) error {
	passed, err := standalone.Test(c.Context, s.engine.Workspace, s.out, standalone.TestOptions{Files: c.Args().Slice(),
		Match: c.String("run"), JUnit: c.String("junit")})
	if err == nil && !passed {
		return exitStatus(exitError)
	}
	return err
}
