package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/standalone"
)

func versionCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version of deployster, of what it was built from, and of what it runs",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: e.action(func(c *cli.Context, s *session) error {
			if err := flagvalues.AtMost(c, 0); err != nil {
				return err
			}
			w := s.engine.Workspace
			return standalone.Describe(installed(c.Context, w.Options)).Print(s.out, c.Bool("json"))
		}),
	}
}
