package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/cli/hosts"
	"deployster/internal/cli/plans"
)

func applyCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "apply a saved plan; or plan, prompt for approval, and apply",
		ArgsUsage: "[PLAN | PATH ...]",
		Description: "A saved plan needs no approval and no manifests. Without one, apply shows the plan and prompts for approval.\n" +
			"- is a plan on stdin. Exit codes: 0 done, 1 error or incomplete, 130 interrupted.",
		Flags:  slices.Concat(varFlags(), planSelectionFlags(), refreshFlags(), applyFlags(), plans.RequireFlags(), eventFlags()),
		Action: e.action(runApply),
	}
}

func destroyCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "destroy",
		Usage: "destroy all resources in the state",
		Description: "Resources whose type cannot destroy them are forgotten, and not destroyed.\n" +
			"Exit codes: 0 done, 1 error or incomplete, 130 interrupted.",
		Flags:  slices.Concat(selectionFlags("with its dependants", " and its dependencies"), applyFlags(), eventFlags()),
		Action: e.action(runDestroy),
	}
}

func applyFlags() []cli.Flag {
	return slices.Concat(approvalFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "keep-going", Usage: "after a failure, continue with everything that does not depend on it"},
		&cli.StringFlag{Name: "report", Usage: "write the report to `FILE`, as JSON; - is stdout, and text goes to stderr"},
		parallelismFlag(), hosts.UnreachableFlag(), inputFlag(), compactFlag(),
	}, overrideFlags(), hosts.WaveFlags())
}

func runApply(c *cli.Context, s *session) error {
	return applied(s.engine.Apply(c.Context, applyOptions(c, s)))
}

func runDestroy(c *cli.Context, s *session) error {
	o := applyOptions(c, s)
	o.Destroy = true
	return applied(s.engine.Apply(c.Context, o))
}

func applyOptions(c *cli.Context, s *session) app.ApplyOptions {
	return app.ApplyOptions{Inputs: inputs(c, s), Selection: selectionOf(c), Parallelism: parallelism(c), KeepGoing: c.Bool("keep-going"),
		HostOptions: hosts.WavesOf(c),
		Report:      c.String("report"), Approval: approvalOptions(c, s), Policy: plans.Conditions(c), Override: overridesOf(c)}
}

// applied returns the error with which a command ends after this result of an apply.
func applied(report *apply.Report, err error) error {
	if err != nil || report.Status == apply.OK {
		return err
	}
	return ended(report.Status)
}
