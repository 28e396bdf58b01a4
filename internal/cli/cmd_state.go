package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/states"
)

func stateCommand(e Env) *cli.Command { return states.Command(e.stateAction) }

func outputCommand(e Env) *cli.Command { return states.OutputCommand(e.stateAction) }

func resolveCommand(e Env) *cli.Command { return states.ResolveCommand(e.stateAction) }

func (e Env) stateAction(run states.Run) cli.ActionFunc {
	return e.action(func(c *cli.Context, s *session) error {
		return run(c, s.states())
	})
}

// states returns the session of the commands of states.
func (s *session) states() states.Session {
	return states.Session{Engine: s.engine, Out: s.out, Err: s.err, Stdin: s.env.Stdin, Confirm: s.ui.Confirm}
}
