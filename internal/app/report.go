package app

import (
	"context"
	"errors"
	"slices"

	"deployster/apply"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/plan"
)

// reporter writes the report of an apply, in every case.
type reporter struct {
	engine  *Engine
	file    string // "" = none
	written bool
}

// begin writes a report with the status unknown. This shows, before anything is done,
// that the file can be written. It also replaces an earlier report, which would be taken
// for this one if the process were killed.
func (r *reporter) begin() error {
	if r.file == "" || r.file == workspace.Std {
		return nil
	}
	if err := r.put(apply.Refused(nil, apply.Unknown, nil)); err != nil {
		return diag.Errorf("Cannot write the report", "%s: %s. Nothing was changed.", r.file, err)
	}
	return nil
}

// write writes the report of what was done.
func (r *reporter) write(report *apply.Report) error {
	r.written = true
	if r.file == "" {
		return nil
	}
	if err := r.put(report); err != nil {
		return diag.Errorf("Cannot write the report", "%s: %s. What was done is in the state file, and is told here.", r.file, err)
	}
	return nil
}

func (r *reporter) put(report *apply.Report) error {
	content, err := r.engine.reportJSON(report)
	if err == nil && r.file == workspace.Std {
		_, err = r.engine.Stdout.Write(content)
		return err
	}
	if err == nil {
		err = r.engine.Replaceable(r.file)
	}
	if err == nil {
		err = durable.WriteFile(r.engine.Path(r.file), content, 0o600)
	}
	return err
}

// end writes the report of an apply that had nothing to do, was refused before anything
// was run, or panicked. It returns the error of the whole apply.
func (r *reporter) end(p *plan.Plan, err error) error {
	switch {
	case r.written:
		return err
	case err == nil:
		return r.write(apply.Refused(p, apply.OK, nil))
	}
	status, problems := apply.Error, diag.From("Error", err)
	if errors.Is(err, context.Canceled) {
		status, problems = apply.Interrupted, diag.Diagnostics{diag.Errorf("Interrupted", "Nothing was changed.")}
	}
	return errors.Join(err, r.write(apply.Refused(p, status, r.engine.Secrets.Diagnostics(problems))))
}

// without returns an error without the diagnostics that are already among the problems of a report.
func without(err error, problems diag.Diagnostics) error {
	var left diag.Diagnostics
	for _, d := range diag.From("Error", err) {
		same := func(p *diag.Diagnostic) bool { return p.Summary == d.Summary && p.Detail == d.Detail }
		if !slices.ContainsFunc(problems, same) { // whether it has an address or not: it is one fault
			left = append(left, d)
		}
	}
	return left.Err()
}
