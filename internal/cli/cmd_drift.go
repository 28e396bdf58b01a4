package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

func driftCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "drift",
		Usage:     "ask whether what was applied is still as it was recorded, and change nothing",
		ArgsUsage: "[PATH ...]",
		Description: "It takes no lock and needs no right to write. What the manifest says otherwise since is not drift.\n" +
			"Exit codes: 0 no drift, 3 drift that is not in the baseline, 1 error, 130 interrupted.",
		Flags: slices.Concat(varFlags(), selectionFlags(), []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`FILE` with drift that is known: it is ignored until it changes"},
			&cli.StringFlag{Name: "write-baseline", Usage: "write the drift that there is to `FILE`, for -baseline"},
			parallelismFlag(), inputFlag(),
		}, eventFlags()),
		Action: func(c *cli.Context) error { return runDrift(c, e) },
	}
}

func runDrift(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	defer s.close()
	known, err := s.baseline(c)
	if err != nil {
		return err
	}
	m, err := s.manifest(c)
	if err != nil {
		return err
	}
	path := s.statePath(c, m)
	snapshot, err := s.readState(c.Context, path)
	if err != nil {
		return err
	}
	if snapshot.Lineage == "" {
		s.note("There is no state file at %s yet: nothing was applied that could have drifted.", path)
	}
	report, diags, err := s.drift(c, m, snapshot)
	if err != nil {
		return err
	}
	over := report.Know(known)
	s.err.Diagnostics(s.hidden(diags))
	s.out.Printf("%s", render.Drift(report, s.out.Options()))
	if len(over) > 0 {
		s.note("The baseline has drift that is not there any more: %s. -write-baseline makes it anew.", words.List(over, 10))
	}
	if err := s.writeBaseline(c, report); err != nil {
		return err
	}
	s.tellDrift(report)
	switch report.Status {
	case plan.DriftFailed:
		return exitStatus(exitError)
	case plan.Drifted:
		return exitStatus(exitDrift)
	}
	return nil
}

// drift asks what there is. The errors among the diagnostics are those of single
// resources.
func (s *session) drift(c *cli.Context, m *config.Manifest, prior state.Snapshot) (*plan.DriftReport, diag.Diagnostics, error) {
	if err := s.open(c.Context, c); err != nil {
		return nil, nil, err
	}
	images, err := s.supply(m)
	if err != nil {
		return nil, nil, err
	}
	images.wanted = func(addr string) bool { _, recorded := prior.Completed(addr); return recorded }
	pins, err := images.all(c.Context)
	if err != nil {
		return nil, nil, err
	}
	client := s.client(prior, pins, images)
	report, diags := plan.Drift(c.Context, m, prior, client, plan.Options{Version: Version, Workspace: s.dir, Selection: selectionOf(c),
		Parallelism: c.Int("parallelism"), InWorkers: inWorkers(c), Now: s.started, Progress: s.planning, Secret: s.vault.add})
	switch {
	case c.Context.Err() != nil:
		return nil, nil, context.Cause(c.Context)
	case report == nil:
		return nil, nil, s.hidden(diags)
	}
	return report, diags, nil
}

// baseline reads the drift that is known.
func (s *session) baseline(c *cli.Context) (plan.Baseline, error) {
	file := c.String("baseline")
	if file == "" {
		return plan.Baseline{}, nil
	}
	data, err := os.ReadFile(s.path(file))
	if err != nil {
		return plan.Baseline{}, diag.Errorf("Cannot read the baseline", "%s. `deployster drift -write-baseline=%s` writes one.", err, file)
	}
	b, err := plan.ReadBaseline(data)
	if err != nil {
		return b, diag.Errorf("Cannot read the baseline", "%s: %s. `deployster drift -write-baseline=%s` writes it anew.", file, err, file)
	}
	return b, nil
}

// writeBaseline writes down the drift that there is, if that is asked for.
func (s *session) writeBaseline(c *cli.Context, r *plan.DriftReport) error {
	file := c.String("write-baseline")
	if file == "" {
		return nil
	}
	err := fmt.Errorf("not everything could be asked, so it would not be whole")
	if r.Status != plan.DriftFailed {
		err = s.replaceable(file)
	}
	var content []byte
	if err == nil {
		content, err = json.MarshalIndent(r.Baseline(), "", "  ")
	}
	if err == nil {
		err = durable.WriteFile(s.path(file), append(content, '\n'), 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot write the baseline", "%s: %s.", file, err)
	}
	s.ui.Printf("The drift that there is was written to %s.\n", file)
	return nil
}

// tellDrift tells programs what was found.
func (s *session) tellDrift(report *plan.DriftReport) {
	level := events.Info
	if report.Status != plan.DriftNone {
		level = events.Warning
	}
	s.send(events.Event{Level: level, Message: render.Colors(render.DriftSummary(report), false),
		Body: events.Drift{Drift: report.Masked()}})
}
