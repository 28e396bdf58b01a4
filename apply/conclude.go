package apply

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/apply/report"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan/observe"
	"deployster/state"
)

// conclude puts the outcomes into the report, and records the outputs. err is what ended the
// apply before anything was done; nil = nothing.
func (r *run) conclude(ctx context.Context, report *Report, err error) error {
	outcomes := r.outcomes()
	fatal := errors.Join(err, outcomes.Collect(report))
	report.Problems = append(report.Problems, r.rollout.problems...)
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
		all.Waves, all.Soaked, all.Cut = r.rollout.waves, r.rollout.failed, r.rollout.cut
	}
	return all
}

// outputs evaluates the outputs with the real states, and records them.
func (r *run) outputs(report *Report) error {
	values, diags := r.manifest.Outputs(observe.States(slices.Sorted(maps.Keys(r.plan.Resources)), r.facts.Look, r.prior))
	for _, v := range values {
		if len(v.Open) > 0 && !r.plan.Outputs[v.Name].LeftOut {
			diags = append(diags, stillOpen("A precondition of the output "+v.Name, v.Open))
		}
	}
	report.Problems = append(report.Problems, diags...)
	if diags.HasErrors() {
		report.Settle(false, true)
		return nil
	}
	outputs := make(map[string]state.Output, len(values))
	for _, v := range values {
		outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive}
	}
	for name, o := range r.plan.Outputs {
		if !o.LeftOut {
			continue
		}
		delete(outputs, name)
		if prior, known := r.prior.Outputs[name]; known {
			outputs[name] = prior
		}
	}
	if maps.EqualFunc(outputs, r.prior.Outputs, func(a, b state.Output) bool {
		return string(a.Value) == string(b.Value) && a.Sensitive == b.Sensitive
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

// checkResults evaluates the check blocks. The state of a resource that was not reached is not known,
// whatever the plan expected of it.
func (r *run) checkResults() ([]config.CheckResult, diag.Diagnostics) {
	seen := func(addr string) observe.View {
		v, step := r.facts.Look(addr), r.plan.Resources[addr]
		if _, reached := r.facts.Reached(addr); !reached && !step.Settled() {
			v.State, v.Partial = nil, true
		}
		return v
	}
	return r.manifest.Checks(observe.States(slices.Sorted(maps.Keys(r.plan.Resources)), seen, r.prior))
}
