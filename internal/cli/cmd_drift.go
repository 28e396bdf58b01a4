package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/drifting"
	"deployster/internal/ui/render"
	"deployster/plan/drift"
)

func driftCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "drift",
		Usage:     "compare what exists with what was recorded, and change nothing",
		ArgsUsage: "[PATH ...]",
		Description: "It takes no lock and needs no write access. Changes of the configuration are not drift.\n" +
			"Exit codes: 0 no drift, 3 drift that is not in the baseline, 1 error, 130 interrupted.",
		Flags: slices.Concat(varFlags(), selectionFlags("without its dependencies", ""), []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`FILE` with known drift, which is ignored until it changes"},
			&cli.StringFlag{Name: "write-baseline", Usage: "write the drift that was found to `FILE`, for -baseline"},
			parallelismFlag(), inputFlag(),
		}, eventFlags()),
		Action: e.action(runDrift),
	}
}

func runDrift(c *cli.Context, s *session) error {
	report, err := drifting.Run(c.Context, s.engine, drifting.Options{Inputs: inputs(c, s), Selection: selectionOf(c),
		Parallelism: parallelism(c),
		Baseline:    c.String("baseline"), WriteBaseline: c.String("write-baseline"),
		Show: func(r *drift.Report) { s.out.Printf("%s", render.Drift(r, s.out.Options())) }})
	switch {
	case err != nil:
		return err
	case report.Status == drift.Failed:
		return exitStatus(exitError)
	case report.Status == drift.Drifted:
		return exitStatus(exitDrift)
	}
	return nil
}
