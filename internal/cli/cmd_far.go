package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/hosts"
	"deployster/internal/cli/standalone"
)

// farCommand is the command that ssh starts on a host: people do not use it.
func farCommand(e Env) *cli.Command {
	return &cli.Command{Name: "far", Hidden: true, Usage: "serve one client on stdin and stdout", Action: e.action(runFar)}
}

func runFar(c *cli.Context, s *session) error {
	s.keep = 0 // no container of a client stays here
	if _, err := s.open(c.Context, c); err != nil {
		return err
	}
	return hosts.Serve(c.Context, s.containerd, s.engine.Workspace.Options, standalone.Version, exitError)
}
