package app

import (
	"encoding/json"
	"time"

	"deployster/apply"
	"deployster/internal/app/announce"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
)

// Pulling reports the progress of image pulls.
func (e *Engine) Pulling(p imagestore.Progress) {
	if event, ok := e.pulls.Event(p, time.Now()); ok {
		e.Events(event)
	}
	e.ui.Pulling(p)
}

// tellPlan sends the changes of a plan as events; file is where it was saved.
func (e *Engine) tellPlan(p *plan.Plan, file string) {
	announce.Plan(e.Events, e.Secrets, p, file)
}

// reportJSON returns the report as it is written to a file.
func (e *Engine) reportJSON(r *apply.Report) ([]byte, error) {
	content, err := json.MarshalIndent(r, "", "  ")
	return append(events.Redact(content, e.Secrets.Hide), '\n'), err
}

// tellReport sends the end of an apply as events, and adds the report to the records.
func (e *Engine) tellReport(r *apply.Report, recorded *state.Snapshot) {
	announce.Report(e.Events, r, recorded)
	if content, err := e.reportJSON(r); err == nil {
		e.records().Report(content)
	}
}
