package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/cli/hosts"
)

func hostCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "host",
		Usage: "check the machines that resources are on",
		Subcommands: []*cli.Command{{
			Name:      "check",
			Usage:     "connect to hosts, install what is missing there, and describe them",
			ArgsUsage: "[NAME ...]",
			Description: "Without names it checks all hosts that the manifests declare. It changes nothing else.\n" +
				"Exit codes: 0 all can be used, 1 one cannot.",
			Flags:  slices.Concat(varFlags(), []cli.Flag{inputFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"}}),
			Action: e.action(runHostCheck),
		}},
	}
}

func runHostCheck(c *cli.Context, s *session) error {
	in := inputs(c, s)
	in.Paths = nil // the arguments are hosts
	found, err := app.CheckHosts(c.Context, s.engine, in, c.Args().Slice())
	if err == nil {
		err = hosts.Print(s.out, found, c.Bool("json"))
	}
	if err == nil && slices.ContainsFunc(found, func(h app.HostCheck) bool { return h.Pin.Unreachable != "" }) {
		return exitStatus(exitError)
	}
	return err
}
