package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/artifacts"
)

func artifactCommand(e Env) *cli.Command {
	return artifacts.Command(varFlags, func(run artifacts.Run) cli.ActionFunc {
		return e.action(func(c *cli.Context, s *session) error {
			in := inputs(c, s)
			in.Paths = nil // the arguments are artifacts
			code, err := run(c, artifacts.Session{Engine: s.engine, Out: s.out, Err: s.err, Inputs: in, Confirm: s.ui.Confirm})
			if err == nil && code != exitDone {
				return exitStatus(code)
			}
			return err
		})
	})
}
