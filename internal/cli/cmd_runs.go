package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/records"
)

func runsCommand(e Env) *cli.Command {
	return records.Command(func(run records.Run) cli.ActionFunc {
		return e.action(func(c *cli.Context, s *session) error {
			return run(c, records.Session{Engine: s.engine, Out: s.out, Err: s.err})
		})
	})
}
