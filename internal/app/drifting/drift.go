package drifting

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"deployster/internal/app"
	"deployster/internal/app/command"
	"deployster/internal/app/stage"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/drift"
)

// Options declare what to query, and which drift is known already.
type Options struct {
	workspace.Inputs
	Selection     plan.Selection
	Parallelism   int
	Baseline      string // the file with the drift that is known; "" = none
	WriteBaseline string // the file to write the drift to; "" = none
	Show          func(*drift.Report)
}

// Run reports whether the real objects still match the state, and changes nothing.
func Run(ctx context.Context, e *app.Engine, o Options) (*drift.Report, error) {
	known, err := Baseline(e.Workspace, o.Baseline)
	if err != nil {
		return nil, err
	}
	loaded, err := stage.Load(ctx, e.Command(), o.Inputs, o.Selection)
	if err != nil {
		return nil, err
	}
	opened, err := stage.Read(ctx, e.Command(), loaded)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if opened.Prior.Lineage == "" {
		e.Workspace.Note("There is no state file at %s yet: nothing was applied that could have drifted.", opened.Place)
	}
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	connected, err := stage.Compare(ctx, e.Command(), opened, machine)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	report, err := find(ctx, e.Command(), connected, known, o)
	if err != nil {
		return nil, err
	}
	if o.WriteBaseline != "" {
		if err := writeBaseline(e.Workspace, o.WriteBaseline, report); err != nil {
			return nil, err
		}
		e.Command().UI.Printf("The current drift was written to %s.\n", o.WriteBaseline)
	}
	level := events.Info
	if report.Status != drift.None {
		level = events.Warning
	}
	e.Workspace.Events(events.Event{Level: level, Message: paint.Colors(render.DriftSummary(report), false),
		Body: events.Drift{Drift: report.Masked()}})
	return report, nil
}

// find queries the real objects, and shows the report.
func find(ctx context.Context, c command.Command, n stage.Connected, known drift.Baseline, o Options) (*drift.Report, error) {
	report, diags, err := n.Planner(c).Drift(ctx, n.Inputs(o.Parallelism))
	if err != nil {
		return nil, err
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case report == nil:
		return nil, c.Work.Secrets.Diagnostics(diags)
	}
	over := report.Know(known)
	c.Work.Diagnostics(diags) // the errors among them are those of single resources
	if o.Show != nil {
		o.Show(report)
	}
	if len(over) > 0 {
		c.Work.Note("The baseline has drift that no longer exists: %s. -write-baseline writes it again.", words.List(over, 10))
	}
	return report, nil
}

// Baseline reads the known drift from a file; "" = none is known.
func Baseline(w *workspace.Workspace, file string) (drift.Baseline, error) {
	if file == "" {
		return drift.Baseline{}, nil
	}
	data, err := os.ReadFile(w.Path(file))
	if err != nil {
		return drift.Baseline{}, diag.Errorf("Cannot read the baseline", "%s. `deployster drift -write-baseline=%s` writes one.", err, file)
	}
	b, err := drift.ReadBaseline(data)
	if err != nil {
		return b, diag.Errorf("Cannot read the baseline", "%s: %s. `deployster drift -write-baseline=%s` writes it again.", file, err, file)
	}
	return b, nil
}

// writeBaseline writes the drift of a report to a file.
func writeBaseline(w *workspace.Workspace, file string, r *drift.Report) error {
	err := fmt.Errorf("not everything could be read, so it would be incomplete")
	if r.Status != drift.Failed {
		err = w.Replaceable(file)
	}
	var content []byte
	if err == nil {
		content, err = json.MarshalIndent(r.Baseline(), "", "  ")
	}
	if err == nil {
		err = durable.WriteFile(w.Path(file), append(content, '\n'), 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot write the baseline", "%s: %s.", file, err)
	}
	return nil
}
