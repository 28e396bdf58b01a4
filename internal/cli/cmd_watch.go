package cli

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/drifting"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/app/watching"
	"deployster/internal/base/diag"
	"deployster/internal/cli/plans"
	"deployster/internal/cli/process"
)

func watchCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "check for drift again and again, and repair it",
		ArgsUsage: "[PLAN | PATH ...]",
		Description: "It repairs only what was approved before: what was applied, with the same images and configs. It reports all " +
			"else.\n" +
			"SIGHUP reloads the manifests. Exit codes: 0 ended, 3 ended with unrepaired drift, 1 error, 130 interrupted twice.",
		Flags: slices.Concat(varFlags(), planSelectionFlags(), []cli.Flag{
			&cli.StringFlag{Name: "approve", Value: "drift", Usage: "`KINDS` of change that need no approval, such as drift,update, or " +
				"none"},
			&cli.StringSliceFlag{Name: "follow",
				Usage: "apply new versions of `ARTIFACT`, such as artifact.site, as far as -approve allows"},
			&cli.DurationFlag{Name: "poll", DefaultText: "1m, or 5m where each check starts a container",
				Usage: "check each resource at least every `DURATION`; 0s: no periodic checks"},
			&cli.StringFlag{Name: "baseline", Usage: "`FILE` with known drift, which is ignored until it changes"},
			&cli.DurationFlag{Name: "converged-timeout", DefaultText: "never", Usage: "end when there was nothing to do for `DURATION`"},
			&cli.DurationFlag{Name: "max-runtime", DefaultText: "never", Usage: "end after `DURATION`"},
			&cli.StringFlag{Name: "metrics", DefaultText: "not served",
				Usage: "serve /metrics for Prometheus and /healthz at `ADDR`: host:port or unix:PATH"},
			&cli.IntFlag{Name: "parallelism", Value: 2, Usage: "start containers for at most `N` checks concurrently"},
		}, plans.RequireFlags(), eventFlags()),
		Action: e.action(runWatch),
	}
}

func runWatch(c *cli.Context, s *session) (err error) {
	o := watching.Options{SourceOptions: repairs.SourceOptions{Inputs: inputs(c, s), Selection: selectionOf(c),
		Policy: plans.Conditions(c)},
		Approve: c.String("approve"), Follow: c.StringSlice("follow"), Parallelism: c.Int("parallelism"),
		Converged:  c.Duration("converged-timeout"),
		MaxRuntime: c.Duration("max-runtime"), Metrics: c.String("metrics"),
		Verbose: c.Bool("verbose"), Record: watching.Records(s.engine, s.env.Abort), Print: s.out.Printf, Show: s.ui.Status}
	if c.IsSet("poll") {
		poll := c.Duration("poll")
		if o.Poll = &poll; poll < 0 || poll > 0 && poll < time.Second {
			return diag.Errorf("Invalid flag value", "-poll is at least 1s, or 0s for no periodic checks.")
		}
	}
	if o.Parallelism < 1 {
		return diag.Errorf("Invalid flag value", "-parallelism must be at least 1.")
	}
	if o.Baseline, err = drifting.Baseline(s.engine.Workspace, c.String("baseline")); err != nil {
		return err
	}
	if s.env.Hangup != nil && !s.env.Interactive {
		o.Reload = s.env.Hangup()
	}
	end, counts, err := watching.Run(c.Context, s.engine, o)
	switch {
	case err != nil:
		return err
	case process.Aborted(s.env.Abort):
		return exitStatus(exitInterrupted)
	case end == watch.Stopped:
		return nil
	case counts.Failed > 0:
		return exitStatus(exitError)
	case counts.Drifted > 0:
		return exitStatus(exitDrift)
	}
	return nil
}
