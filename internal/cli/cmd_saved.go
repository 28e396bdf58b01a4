package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/plans"
)

func showCommand(e Env) *cli.Command {
	return plans.ShowCommand(e.planAction, compactFlag(), explainFlag())
}

func signCommand(e Env) *cli.Command { return plans.SignCommand(e.planAction) }

func graphCommand(e Env) *cli.Command { return plans.GraphCommand(e.planAction, varFlags()) }

func (e Env) planAction(run plans.Run) cli.ActionFunc {
	return e.action(func(c *cli.Context, s *session) error {
		return run(c, plans.Session{Engine: s.engine, Out: s.out, Inputs: inputs(c, s)})
	})
}
