package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/base/words"
	"deployster/internal/runner/imagestore"
	"deployster/internal/ui/events"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

// pullEvents knows what programs were told of pulls.
type pullEvents struct {
	mu   sync.Mutex
	last map[string]time.Time // reference -> when
}

// pullEvery is how often programs are told how far a download is.
const pullEvery = time.Second

// event is what they are to be told now, if anything.
func (t *pullEvents) event(p imagestore.Progress, now time.Time) (events.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, begun := t.last[p.Reference]
	e := events.Event{Level: events.Info, Message: fmt.Sprintf("Pulling %s: %s", p.Reference, p.Phase),
		Body: events.Pull{Image: p.Reference, Phase: string(p.Phase), Done: p.Done, Total: p.Total}}
	switch p.Phase {
	case imagestore.Downloading:
		if begun && now.Sub(last) < pullEvery {
			return e, false
		}
		if t.last == nil {
			t.last = map[string]time.Time{}
		}
		t.last[p.Reference] = now
		e.Message = fmt.Sprintf("Pulling %s: %s of %s", p.Reference, words.Bytes(p.Done), words.Bytes(p.Total))
		return e, true
	case imagestore.Retrying:
		e.Level = events.Warning
		e.Message = fmt.Sprintf("Pulling %s: %s. Trying again in %s", p.Reference, p.Reason, p.Pause)
		return e, true
	case imagestore.Done, imagestore.Failed:
		delete(t.last, p.Reference)
		return e, begun || p.Phase == imagestore.Failed
	}
	return e, false
}

// Pulling is told how far it is with images.
func (e *Engine) Pulling(p imagestore.Progress) {
	if event, ok := e.pulls.event(p, time.Now()); ok {
		e.Events(event)
	}
	e.ui.Pulling(p)
}

// tellPlan tells programs what a plan wants; file is where it was saved.
func (e *Engine) tellPlan(p *plan.Plan, file string) {
	for _, addr := range p.Order() {
		step := p.Resources[addr]
		if step.Quiet() {
			continue
		}
		step = e.Secrets.Step(step)
		message := fmt.Sprintf("%s: to %s", addr, step.Change)
		switch step.Change {
		case plan.Valid:
			switch message = addr + ": stays as it is"; {
			case step.MayChange:
				message = addr + ": may change"
			case step.Adopted:
				message = addr + ": to adopt"
			case step.MovedFrom != "":
				message = addr + ": " + render.MovedFrom(step)
			case len(step.Edited) > 0:
				message = addr + ": its config " + render.Edited(step)
			}
		case plan.Left:
			message = addr + ": stays as it is"
		case plan.Deferred:
			if message = addr + ": what is to be done is known after apply"; step.Expected != "" {
				message = fmt.Sprintf("%s: to %s once its dependencies exist", addr, step.Expected)
			}
		case plan.ReadFailed:
			message = addr + ": could not be read"
		}
		e.Events(events.Event{Level: events.Info, Message: message, Body: events.PlannedChange{Resource: addr, Change: step.Change,
			Image: step.Type, Digest: step.Init.Digest, Actions: step.Actions, Shutdown: step.Shutdown, Reasons: step.Reasons,
			Reason: step.Reason, MovedFrom: step.MovedFrom, MayChange: step.MayChange, Expected: step.Expected, Adopted: step.Adopted,
			MovedWhy: step.MovedWhy, Edited: step.Edited, Notes: step.Notes,
			Drifted: step.Drifted, Replaces: step.Replaces, Deposed: step.Deposed}})
	}
	if len(p.Checks) > 0 {
		e.Events(events.OfChecks(e.Secrets.Checks(p.Checks)))
	}
	summary := events.PlanSummary{Plan: p.ID, Summary: p.Summary, Changes: p.HasChanges(), Moves: p.Moves, LeftOpen: p.LeftOpen(), File: file}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		if p.Outputs[name].Changed {
			summary.Outputs = append(summary.Outputs, name)
		}
	}
	e.Events(events.Event{Level: events.Info, Message: "Plan: " + render.Counts(p), Body: summary})
}

// reportJSON is the report as a file has it.
func (e *Engine) reportJSON(r *apply.Report) ([]byte, error) {
	content, err := json.MarshalIndent(r, "", "  ")
	return append(events.Redact(content, e.Secrets.Hide), '\n'), err
}

// tellReport tells programs how an apply ended; recorded are the outputs.
func (e *Engine) tellReport(r *apply.Report, recorded *state.Snapshot) {
	if len(r.Checks) > 0 {
		e.Events(events.OfChecks(r.Checks))
	}
	if recorded != nil && len(recorded.Outputs) > 0 {
		values := make(map[string]events.OutputValue, len(recorded.Outputs))
		for name, o := range recorded.Outputs {
			values[name] = events.OutputValue{Sensitive: o.Sensitive}
			if !o.Sensitive {
				values[name] = events.OutputValue{Value: o.Value}
			}
		}
		e.Events(events.Event{Level: events.Info, Message: words.Count(len(values), "output"), Body: events.Outputs{Outputs: values}})
	}
	e.Events(events.OfReport(r))
	if content, err := e.reportJSON(r); err == nil {
		e.records().Report(content)
	}
}
