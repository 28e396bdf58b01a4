package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

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

// DriftOptions declare what to query, and which drift is known already.
type DriftOptions struct {
	workspace.Inputs
	Selection     plan.Selection
	Parallelism   int
	Baseline      string // the file with the drift that is known; "" = none
	WriteBaseline string // the file to write the drift to; "" = none
	Show          func(*drift.Report)
}

// Drift reports whether the real objects still match the state, and changes nothing.
func (e *Engine) Drift(ctx context.Context, o DriftOptions) (*drift.Report, error) {
	known, err := e.Baseline(o.Baseline)
	if err != nil {
		return nil, err
	}
	loaded, err := stage.Load(ctx, e.command, o.Inputs, o.Selection)
	if err != nil {
		return nil, err
	}
	opened, err := stage.Read(ctx, e.command, loaded)
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
	connected, err := stage.Compare(ctx, e.command, opened, machine)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	report, err := e.drift(ctx, connected, known, o)
	if err != nil {
		return nil, err
	}
	if o.WriteBaseline != "" {
		if err := e.writeBaseline(o.WriteBaseline, report); err != nil {
			return nil, err
		}
		e.command.UI.Printf("The current drift was written to %s.\n", o.WriteBaseline)
	}
	level := events.Info
	if report.Status != drift.None {
		level = events.Warning
	}
	e.Workspace.Events(events.Event{Level: level, Message: paint.Colors(render.DriftSummary(report), false),
		Body: events.Drift{Drift: report.Masked()}})
	return report, nil
}

// drift queries the real objects, and shows the report.
func (e *Engine) drift(ctx context.Context, n stage.Connected, known drift.Baseline, o DriftOptions) (*drift.Report, error) {
	report, diags, err := n.Planner(e.command).Drift(ctx, n.Inputs(o.Parallelism))
	if err != nil {
		return nil, err
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case report == nil:
		return nil, e.Workspace.Secrets.Diagnostics(diags)
	}
	over := report.Know(known)
	e.Workspace.Diagnostics(diags) // the errors among them are those of single resources
	if o.Show != nil {
		o.Show(report)
	}
	if len(over) > 0 {
		e.Workspace.Note("The baseline has drift that no longer exists: %s. -write-baseline writes it again.", words.List(over, 10))
	}
	return report, nil
}

// Baseline reads the known drift from a file; "" = none is known.
func (e *Engine) Baseline(file string) (drift.Baseline, error) {
	if file == "" {
		return drift.Baseline{}, nil
	}
	data, err := os.ReadFile(e.Workspace.Path(file))
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
func (e *Engine) writeBaseline(file string, r *drift.Report) error {
	err := fmt.Errorf("not everything could be read, so it would be incomplete")
	if r.Status != drift.Failed {
		err = e.Workspace.Replaceable(file)
	}
	var content []byte
	if err == nil {
		content, err = json.MarshalIndent(r.Baseline(), "", "  ")
	}
	if err == nil {
		err = durable.WriteFile(e.Workspace.Path(file), append(content, '\n'), 0o600)
	}
	if err != nil {
		return diag.Errorf("Cannot write the baseline", "%s: %s.", file, err)
	}
	return nil
}
