package terminal

import (
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

// The methods below print what internal/ui/render renders.

// Plan prints a plan, for a person who decides about it.
func (p Printer) Plan(pl *plan.Plan) {
	p.selectionHead(pl)
	p.Printf("%s", render.Plan(pl, p.Options()))
}

// State prints the state.
func (p Printer) State(s state.Snapshot) { p.Printf("%s", render.State(s, p.Options())) }

// Outputs prints the outputs.
func (p Printer) Outputs(s state.Snapshot) { p.Printf("%s", render.Outputs(s, p.Options())) }

// Checks prints the results of the check blocks.
func (p Printer) Checks(list []config.CheckResult) { p.Printf("%s", render.Checks(list)) }

// Report prints the report of an apply; took has the duration of each resource.
func (p Printer) Report(pl *plan.Plan, r *apply.Report, took map[string]time.Duration) {
	p.Printf("%s", render.Report(pl, r, took, p.Options()))
}
