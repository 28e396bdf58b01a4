package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/standalone"
)

func newCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "write an example that works",
		ArgsUsage: "[EXAMPLE]",
		Description: "It writes a manifest with comments, and what the manifest needs, into the working directory. It replaces no file.\n" +
			"The examples, of which the first is the default:" + standalone.DescribeExamples(),
		Action: e.action(func(c *cli.Context, s *session) error {
			if err := flagvalues.AtMost(c, 1); err != nil {
				return err
			}
			name := c.Args().First()
			if name == "" {
				name = standalone.Examples()[0]
			}
			return standalone.New(s.out, s.engine.Workspace.Dir, name)
		}),
	}
}
