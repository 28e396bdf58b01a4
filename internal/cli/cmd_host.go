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
				"On a cluster it starts a Pod of the agent, and removes it.\n" +
				"Exit codes: 0 all can be used, 1 one cannot.",
			Flags: slices.Concat(varFlags(), []cli.Flag{inputFlag(), &cli.BoolFlag{Name: "json", Usage: "as JSON"},
				&cli.BoolFlag{Name: "no-pod", Usage: "start no Pod on clusters"},
				&cli.BoolFlag{Name: "prune", Usage: "remove Pods of earlier commands that have ended, also of other states"},
				&cli.BoolFlag{Name: "force", Usage: "with -prune, do not prompt"}}),
			Action: e.action(runHostCheck),
		}},
	}
}

func runHostCheck(c *cli.Context, s *session) error {
	in := inputs(c, s)
	in.Paths = nil // the arguments are hosts
	found, err := app.CheckHosts(c.Context, s.engine, in, c.Args().Slice(), c.Bool("no-pod"))
	if err == nil && c.Bool("prune") {
		err = pruneHosts(c, s, found)
	}
	if err == nil {
		err = hosts.Print(s.out, found, c.Bool("json"))
	}
	if err == nil && slices.ContainsFunc(found, func(h app.HostCheck) bool { return h.Pin.Unreachable != "" }) {
		return exitStatus(exitError)
	}
	return err
}

// pruneHosts removes the Pods of earlier commands from checked hosts.
func pruneHosts(c *cli.Context, s *session, found []app.HostCheck) error {
	pods := hosts.Prunable(found)
	if pods == 0 {
		return nil
	}
	if !c.Bool("force") {
		confirm := s.ui.Confirm
		if !s.env.Interactive {
			confirm = nil
		}
		if err := hosts.ConfirmPrune(c.Context, pods, confirm); err != nil {
			return err
		}
	}
	return app.PruneHosts(c.Context, s.engine, found)
}
