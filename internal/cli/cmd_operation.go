package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/cli/hosts"
	"deployster/internal/cli/states"
)

func operationCommand(e Env) *cli.Command {
	run := e.action(func(c *cli.Context, s *session) error {
		return applied(states.RunOperation(c, s.states(), states.Limits{Ask: s.env.Interactive && c.Bool("input"),
			Hosts:       hosts.OptionsOf(c),
			Parallelism: parallelism(c)}))
	})
	return states.OperationCommand(run, e.stateAction(states.ListOperations), slices.Concat([]cli.Flag{parallelismFlag(),
		hosts.UnreachableFlag(), inputFlag()}, eventFlags()))
}
