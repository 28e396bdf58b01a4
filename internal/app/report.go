package app

import (
	"context"
	"errors"

	"deployster/apply"
	"deployster/internal/app/command"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/plan"
)

// Reporter writes the report of an apply, in every case.
type Reporter struct {
	command command.Command
	file    string // "" = none
	written bool
	plan    *plan.Plan    // as far as there is one
	report  *apply.Report // what was written
}

// NewReporter returns what writes a report to a file; "" = none is written.
func NewReporter(c command.Command, file string) *Reporter { return &Reporter{command: c, file: file} }

// Begin writes a report with the status unknown. This shows, before anything is done,
// that the file can be written. It also replaces an earlier report, which would be taken
// for this one if the process were killed.
func (r *Reporter) Begin() error {
	if r.file == "" || r.file == workspace.Std {
		return nil
	}
	if err := r.put(apply.Refused(nil, apply.Unknown, nil)); err != nil {
		return diag.Errorf("Cannot write the report", "%s: %s. Nothing was changed.", r.file, err)
	}
	return nil
}

// Write writes the report of what was done.
func (r *Reporter) Write(report *apply.Report) error {
	r.written, r.report = true, report
	if r.file == "" {
		return nil
	}
	if err := r.put(report); err != nil {
		return diag.Errorf("Cannot write the report", "%s: %s. What was done is in the state file, and is printed here.", r.file, err)
	}
	return nil
}

func (r *Reporter) put(report *apply.Report) error {
	content, err := r.command.ReportJSON(report)
	if err == nil && r.file == workspace.Std {
		_, err = r.command.Work.Stdout.Write(content)
		return err
	}
	if err == nil {
		err = r.command.Work.Replaceable(r.file)
	}
	if err == nil {
		err = durable.WriteFile(r.command.Work.Path(r.file), content, 0o600)
	}
	return err
}

// End writes the report of an apply that had nothing to do, was refused before anything
// was run, or panicked. It returns the error of the whole apply.
func (r *Reporter) End(err error) error {
	switch {
	case r.written:
		return err
	case err == nil:
		return r.Write(apply.Refused(r.plan, apply.OK, nil))
	}
	status, problems := apply.Error, diag.From("Error", err)
	if errors.Is(err, context.Canceled) {
		status, problems = apply.Interrupted, diag.Diagnostics{diag.Errorf("Interrupted", "Nothing was changed.")}
	}
	refused := apply.Refused(r.plan, status, r.command.Work.Secrets.Diagnostics(problems))
	if r.plan != nil {
		refused.Policies = r.plan.Policies
	}
	return errors.Join(err, r.Write(refused))
}
