package cli

import (
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

// What is rendered by internal/ui/render is printed here.

// planView prints what a plan would do, for a person to decide upon.
func (p printer) planView(pl *plan.Plan) {
	p.selectionHead(pl)
	p.printf("%s", render.Plan(pl, p.options()))
}

// stateView prints what is remembered.
func (p printer) stateView(s state.Snapshot) { p.printf("%s", render.State(s, p.options())) }

// outputs prints the outputs.
func (p printer) outputs(s state.Snapshot) { p.printf("%s", render.Outputs(s, p.options())) }

// checks prints what the check blocks say.
func (p printer) checks(list []config.CheckResult) { p.printf("%s", render.Checks(list)) }

// report prints the end of an apply; took says how long each resource took.
func (p printer) report(pl *plan.Plan, r *apply.Report, took map[string]time.Duration) {
	p.printf("%s", render.Report(pl, r, took, p.options()))
}
