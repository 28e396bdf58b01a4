package terminal

import (
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/internal/ui/stateview"
	"deployster/plan"
	"deployster/state"
)

// The methods below print what internal/ui/render and internal/ui/stateview render.

// Plan prints a plan, for a person who decides about it.
func (p Printer) Plan(pl *plan.Plan) {
	p.selectionHead(pl)
	p.Printf("%s", render.Plan(pl, p.Options()))
}

// State prints the state.
func (p Printer) State(s state.Snapshot) { p.Printf("%s", stateview.State(s, p.Options())) }

// Outputs prints the outputs.
func (p Printer) Outputs(s state.Snapshot) { p.Printf("%s", stateview.Outputs(s, p.Options())) }

// Output prints one output.
func (p Printer) Output(name string, o state.Output) {
	p.Printf("%s = %s\n", name, stateview.Output(o, 0, p.Options()))
}

// Checks prints the results of the check blocks.
func (p Printer) Checks(list []config.CheckResult) { p.Printf("%s", render.Checks(list)) }

// Report prints the report of an apply; took has the duration of each resource.
func (p Printer) Report(pl *plan.Plan, r *apply.Report, took map[string]time.Duration) {
	p.Printf("%s", render.Report(pl, r, took, p.Options()))
}
