package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"deployster/internal/cli/images"
)

func imageCommand(e Env) *cli.Command {
	return images.Command(func(run images.Run) cli.ActionFunc {
		return e.action(func(c *cli.Context, s *session) error {
			return run(c, images.Session{Engine: s.engine, Out: s.out, Err: s.err, Interactive: s.env.Interactive, Confirm: s.ui.Confirm,
				Store: s.store})
		})
	})
}

// store connects to the containerd whose images a command uses.
func (s *session) store(ctx context.Context) (images.Store, error) {
	s.keep = 0 // of these commands only a test of a type starts a container that lasts, and it needs a fresh one
	if _, err := s.engine.Runtime(ctx); err != nil {
		return nil, err
	}
	return s.images, nil
}
