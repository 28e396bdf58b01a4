package cli

import (
	"slices"

	"deployster/internal/app"
	"deployster/internal/app/discover"
	"deployster/internal/app/workspace"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/hosts"
	"deployster/internal/ui/render"

	"github.com/urfave/cli/v2"
)

func planCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "compare what exists with the configuration, and show what apply would change",
		ArgsUsage: "[PATH ...]",
		Description: "PATH is a directory to work in, like -chdir, or manifests; the default is the working directory.\n" +
			"Exit codes: 0 done, 1 error, 130 interrupted, and with -detailed-exitcode 2 when there are changes.",
		Flags: slices.Concat(varFlags(), planSelectionFlags(), refreshFlags(), overrideFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "destroy", Usage: "plan to destroy everything in the state, or the targets"},
			&cli.StringFlag{Name: "out", Usage: "save the plan to `FILE`, for deployster apply FILE; - is stdout, and text goes to stderr"},
			&cli.StringFlag{Name: "generate-config-out",
				Usage: "write resource blocks for what exists, as its types list it, to the new manifest `FILE`; the plan adopts them"},
			&cli.StringFlag{Name: "sign-key", Usage: "sign the saved plan with the ed25519 key in `FILE`"},
			&cli.BoolFlag{Name: "any-state", Usage: "the signed plan may begin any state, not only the one here that does not exist yet"},
			&cli.StringFlag{Name: "approve", Usage: "the `KINDS` that change what is planned. other-path: also replace what differs " +
				"only in a plug's path. purge: also destroy what exclusive sets list, and what is neither declared nor kept"},
			&cli.StringFlag{Name: "deferred", Usage: "`MODE` of the saved plan for blocks whose keys are known after apply: " +
				"apply continues with them, and stop (the default) does what the plan shows"},
			&cli.BoolFlag{Name: "lock", Value: true, Usage: "take no lock of the state file: plan also while an apply runs"},
			&cli.BoolFlag{Name: "detailed-exitcode", Usage: "exit with 2 when there are changes"},
			parallelismFlag(), hosts.UnreachableFlag(), hosts.AtOnceFlag(), inputFlag(), compactFlag(), explainFlag(),
		}, eventFlags()),
		Action: e.action(runPlan),
	}
}

func runPlan(c *cli.Context, s *session) error {
	if into := c.String("generate-config-out"); into != "" {
		if err := discover.Write(c.Context, s.engine, inputs(c, s), into); err != nil {
			return err
		}
	}
	file := c.String("out")
	p, err := s.engine.Plan(c.Context, app.PlanOptions{Inputs: inputs(c, s), Selection: selectionOf(c), Parallelism: parallelism(c),
		Explain: flagvalues.WordsOf(c, "explain"), HostOptions: hosts.OptionsOf(c), Out: file, SignKey: flagvalues.Given(c, "sign-key"),
		AnyState: c.Bool("any-state"), Deferred: flagvalues.Given(c, "deferred"), Override: overridesOf(c),
		Approve: flagvalues.Given(c, "approve")})
	if err != nil {
		if p != nil && file != "" && file != workspace.Std {
			s.ui.Printf("\nSaved to %s, to be reviewed: apply refuses it.\n", file)
		}
		return err
	}
	if file != "" && file != workspace.Std {
		s.ui.Printf("\n%sSaved to %s. Apply it with: %s\n", render.LeftOpen(p), file, s.engine.Workspace.Typed("apply", file))
	}
	if c.Bool("detailed-exitcode") && p.HasChanges() {
		return exitStatus(exitChanges)
	}
	return nil
}
