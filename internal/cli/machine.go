package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/apply"
	"deployster/containerd"
	"deployster/internal/base/words"
	"deployster/internal/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
)

// planning passes on what happens while a plan is made.
func (s *session) planning(e plan.Event) {
	s.send(events.OfPlan(e))
	s.ui.Planning(e)
}

// applying passes on what happens while a plan is carried out.
func (s *session) applying(e apply.Event) {
	s.send(events.OfApply(e))
	s.ui.Applying(e)
}

// line passes on what an image prints.
func (s *session) line(l typeclient.Line) {
	s.send(events.OfLine(l))
	s.ui.Line(l)
}

// send tells programs of something that no watcher sees.
func (s *session) send(e events.Event) { s.env.account.stream.Send(e) }

// note remarks something, to people and to programs.
func (s *session) note(format string, args ...any) {
	e := events.Notef(format, args...)
	s.send(e)
	s.ui.Printf("%s\n", e.Message)
}

// pullTold knows what programs were told of pulls.
type pullTold struct {
	mu   sync.Mutex
	last map[string]time.Time // reference -> when
}

// pullEvery is how often programs are told how far a download is.
const pullEvery = time.Second

// event is what they are to be told now, if anything.
func (t *pullTold) event(p containerd.PullProgress, now time.Time) (events.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, begun := t.last[p.Reference]
	e := events.Event{Level: events.Info, Message: fmt.Sprintf("Pulling %s: %s", p.Reference, p.Phase),
		Body: events.Pull{Image: p.Reference, Phase: string(p.Phase), Done: p.Done, Total: p.Total}}
	switch p.Phase {
	case containerd.PullDownloading:
		if begun && now.Sub(last) < pullEvery {
			return e, false
		}
		if t.last == nil {
			t.last = map[string]time.Time{}
		}
		t.last[p.Reference] = now
		e.Message = fmt.Sprintf("Pulling %s: %s of %s", p.Reference, words.Bytes(p.Done), words.Bytes(p.Total))
		return e, true
	case containerd.PullRetrying:
		e.Level = events.Warning
		e.Message = fmt.Sprintf("Pulling %s: %s. Trying again in %s", p.Reference, containerd.PullReason(p.Err), p.Pause)
		return e, true
	case containerd.PullDone, containerd.PullFailed:
		delete(t.last, p.Reference)
		return e, begun || p.Phase == containerd.PullFailed
	}
	return e, false
}

// pulling is told how far it is with images.
func (s *session) pulling(p containerd.PullProgress) {
	if e, ok := s.pullTold.event(p, time.Now()); ok {
		s.send(e)
	}
	s.ui.Pulling(p)
}

// tellPlan tells programs what a plan wants; file is where it was saved.
func (s *session) tellPlan(p *plan.Plan, file string) {
	for _, addr := range p.Order() {
		step := p.Resources[addr]
		if step.Change == plan.Valid && step.MovedFrom == "" && !step.MayChange {
			continue
		}
		step = s.maskedStep(step)
		message := fmt.Sprintf("%s: to %s", addr, step.Change)
		switch step.Change {
		case plan.Valid, plan.Left:
			message = addr + ": stays as it is"
		case plan.Deferred:
			message = addr + ": what is to be done is known after apply"
		case plan.ReadFailed:
			message = addr + ": could not be read"
		}
		s.send(events.Event{Level: events.Info, Message: message, Body: events.PlannedChange{Resource: addr, Change: step.Change,
			Image: step.Type, Digest: step.Init.Digest, Actions: step.Actions, Shutdown: step.Shutdown, Reasons: step.Reasons,
			Reason: step.Reason, MovedFrom: step.MovedFrom, MayChange: step.MayChange, Adopted: step.Adopted, Drifted: step.Drifted}})
	}
	if len(p.Checks) > 0 {
		s.send(events.OfChecks(s.maskedChecks(p.Checks)))
	}
	summary := events.PlanSummary{Plan: p.ID, Summary: p.Summary, Changes: p.HasChanges(), Moves: p.Moves, File: file}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		if p.Outputs[name].Changed {
			summary.Outputs = append(summary.Outputs, name)
		}
	}
	s.send(events.Event{Level: events.Info, Message: planSentence(p.Summary), Body: summary})
}

// planSentence counts what a plan wants.
func planSentence(s plan.Summary) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Create, "to create"}, {s.Update, "to update"}, {s.Replace, "to replace"}, {s.Destroy, "to destroy"}, {s.Forget, "to forget"},
		{s.Record, "to record"}, {s.Deferred, "deferred"}, {s.Left, "left as they are"}, {s.ReadFailed, "that could not be read"}, {s.Valid, "valid"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return "Plan: " + cmp.Or(strings.Join(parts, ", "), "no resources")
}

// reportJSON is the report as a file has it.
func (s *session) reportJSON(r *apply.Report) ([]byte, error) {
	content, err := json.MarshalIndent(r, "", "  ")
	return append(events.Redact(content, s.vault.hide), '\n'), err
}

// tellReport tells programs how an apply ended; recorded are the outputs.
func (s *session) tellReport(r *apply.Report, recorded *state.Snapshot) {
	if len(r.Checks) > 0 {
		s.send(events.OfChecks(r.Checks))
	}
	if recorded != nil && len(recorded.Outputs) > 0 {
		values := make(map[string]events.OutputValue, len(recorded.Outputs))
		for name, o := range recorded.Outputs {
			values[name] = events.OutputValue{Sensitive: o.Sensitive}
			if !o.Sensitive {
				values[name] = events.OutputValue{Value: o.Value}
			}
		}
		s.send(events.Event{Level: events.Info, Message: words.Count(len(values), "output"), Body: events.Outputs{Outputs: values}})
	}
	s.send(events.OfReport(r))
	if content, err := s.reportJSON(r); err == nil {
		s.env.account.recorder.Report(content)
	}
}
