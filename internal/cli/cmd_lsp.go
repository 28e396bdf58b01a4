package cli

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/standalone"
)

func lspCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "lsp",
		Usage: "help an editor with manifests, by the Language Server Protocol on stdin and stdout",
		Description: "Editors start it. It finds what validate finds, also in texts that are not saved, completes by the schemas " +
			"that init, or\n" +
			"a plan, has kept of types, and changes nothing by itself. It ends with the editor.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "serve stdin and stdout, which is the only way; editors name it"},
		},
		Action: e.action(func(c *cli.Context, s *session) error {
			if err := flagvalues.AtMost(c, 0); err != nil {
				return err
			}
			return standalone.ServeEditor(s.engine.Workspace)
		}),
	}
}
