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
	file    string // "" = nobody wants one
	written bool
}

// begin writes a report that says that nothing is known yet. It shows before
// anything is done that the file can be written, and an earlier report that lies
// there is not taken for this one if the process dies.
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

// end writes the report of an apply that had nothing to do or was refused before anything
// was run, or in which this program itself failed, and returns the error of the whole.
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

// without leaves of an error what is not among the problems of a report already.
func without(err error, problems diag.Diagnostics) error {
	var left diag.Diagnostics
	for _, d := range diag.From("Error", err) {
		same := func(p *diag.Diagnostic) bool { return p.Summary == d.Summary && p.Detail == d.Detail }
		if !slices.ContainsFunc(problems, same) { // of a step or of none: it is one fault
			left = append(left, d)
		}
	}
	return left.Err()
}
