package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"deployster/internal/cli/modules"
)

func moduleCommand(e Env) *cli.Command {
	return modules.Command(func(run modules.Run) cli.ActionFunc {
		return e.action(func(c *cli.Context, s *session) error {
			return run(c, modules.Session{Engine: s.engine, Out: s.out,
				Store: func(ctx context.Context) (modules.Packer, error) { return s.store(ctx) }})
		})
	})
}
