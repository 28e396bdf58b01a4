package apply

import (
	"context"
	"errors"
	"maps"

	"deployster/apply/report"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/state"
)

// conclude puts the outcomes into the report, and records the outputs. err is what ended the
// apply before anything was done; nil = nothing.
func (r *run) conclude(ctx context.Context, report *Report, err error) error {
	outcomes := r.outcomes()
	fatal := errors.Join(err, outcomes.Collect(report))
	if r.rollout != nil {
		report.Problems = append(report.Problems, r.rollout.Problems...)
	}
	outcomes.Sum(report, ctx.Err() != nil, fatal != nil)
	if report.Whole() && fatal == nil {
		fatal = r.outputs(report)
	}
	r.checks(report)
	return fatal
}

// outcomes are how all nodes ended so far.
func (r *run) outcomes() *report.Outcomes {
	left := map[string]report.Leaving{}
	for addr, why := range r.options.Left {
		on := r.prior.Resources[addr].Settings.Host
		if declared := r.manifest.Resource(addr); declared != nil {
			on = declared.Settings.Host
		}
		left[addr] = report.Leaving{Host: runner.NameOf(on), Why: why}
	}
	all := &report.Outcomes{Plan: r.plan, Resumes: r.died.Plan != "", Ended: r.ended, IsGone: r.facts.IsGone, Why: r.stops.why, Left: left}
	if r.steps != nil {
		all.Shutdown = r.steps.shutdowns
	}
	if r.rollout != nil {
		all.Waves, all.Soaked, all.Cut = r.rollout.Waves, r.rollout.Failed, r.rollout.Cut
	}
	return all
}

// outputs evaluates the outputs with the real states, and records them.
func (r *run) outputs(report *Report) error {
	outputs, diags := r.steps.evaluated.Outputs()
	report.Problems = append(report.Problems, diags...)
	if diags.HasErrors() {
		report.Settle(false, true)
		return nil
	}
	if maps.EqualFunc(outputs, r.prior.Outputs, func(a, b state.Output) bool {
		return string(a.Value) == string(b.Value) && a.Sensitive == b.Sensitive && a.Export == b.Export
	}) {
		return nil
	}
	err := r.journal.Outputs(outputs)
	if err != nil {
		report.Settle(false, true)
	}
	return err
}

// checks evaluates the check blocks with the present states.
func (r *run) checks(report *Report) {
	results, diags := r.checkResults()
	report.Checks, report.Problems = results, append(report.Problems, diags...)
}

// checkResults evaluates the check blocks.
func (r *run) checkResults() ([]config.CheckResult, diag.Diagnostics) {
	if r.options.Look == nil {
		return r.steps.evaluated.Checks(nil)
	}
	return r.steps.evaluated.Checks(func(s config.States) config.Looked { return r.options.Look(r.work, s) })
}
