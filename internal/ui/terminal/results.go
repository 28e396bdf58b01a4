package terminal

import (
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

// What is rendered by internal/ui/render is printed here.

// Plan prints what a plan would do, for a person to decide upon.
func (p Printer) Plan(pl *plan.Plan) {
	p.selectionHead(pl)
	p.Printf("%s", render.Plan(pl, p.Options()))
}

// State prints what is remembered.
func (p Printer) State(s state.Snapshot) { p.Printf("%s", render.State(s, p.Options())) }

// Outputs prints the outputs.
func (p Printer) Outputs(s state.Snapshot) { p.Printf("%s", render.Outputs(s, p.Options())) }

// Checks prints what the check blocks say.
func (p Printer) Checks(list []config.CheckResult) { p.Printf("%s", render.Checks(list)) }

// Report prints the end of an apply; took says how long each resource took.
func (p Printer) Report(pl *plan.Plan, r *apply.Report, took map[string]time.Duration) {
	p.Printf("%s", render.Report(pl, r, took, p.Options()))
}
