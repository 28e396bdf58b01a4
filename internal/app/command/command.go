package command

import (
	"context"
	"encoding/json"
	"errors"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/announce"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/explain"
	"deployster/plan/observe"
	"deployster/state"
	"deployster/state/actions"
)

// UI shows a person the progress, and shows questions. It is called from many goroutines.
type UI interface {
	workspace.UI
	// Begin shows the progress of total resources, until end is called.
	Begin(verb string, total int) (end func())
	Planning(plan.Event)
	Applying(apply.Event)
	Line(typeclient.Line)       // what an image prints
	Waiting(typeclient.Waiting) // why a step in a cluster has not begun yet
	Pulling(imagestore.Progress)
	Plan(*plan.Plan)
	Explain(*plan.Plan, []*explain.Explanation) // instead of Plan, with -explain
	// Report shows how an apply ended; recorded is nil if it did not end well.
	Report(p *plan.Plan, r *apply.Report, recorded *state.Snapshot)
	// Confirm shows a question. With whole only the word yes counts as an approval.
	Confirm(ctx context.Context, question string, whole bool) (bool, error)
	Question(context.Context, apply.Question) (apply.Answer, error)
}

// Records keeps what was sent to images and what they answered. runs.Recorder implements it.
type Records interface {
	// Applies names the plan of the run, the keys that signed it, and who overrides policies.
	Applies(plan string, signedBy []string, overrides []actions.Override)
	Begin() // from now on objects are changed
	Add(typeclient.Invocation)
	Report(content []byte)
}

// Command is one command: where it works, and to whom it reports.
type Command struct {
	Work *workspace.Workspace
	UI   UI
	// Open starts the records of a run in a directory.
	Open  func(dir string, keys *encryption.Keyring) Records
	Abort <-chan struct{} // closed to end running actions too; cancelling the context only keeps new ones from starting
}

// Records returns the records of the run.
func (c Command) Records() Records { return c.Open(c.Work.Dir, c.Work.Keys) }

// Planning reports what happens while a plan is made.
func (c Command) Planning(event plan.Event) {
	c.Work.Events(events.OfPlan(event))
	c.UI.Planning(event)
}

// Applying reports what happens while a plan is applied.
func (c Command) Applying(event apply.Event) {
	c.Work.Events(events.OfApply(event))
	c.UI.Applying(event)
}

// Line reports what an image prints.
func (c Command) Line(l typeclient.Line) {
	c.Work.Events(events.OfLine(l))
	c.UI.Line(l)
}

// Waiting reports why a step in a cluster has not begun yet, and to the person also that it begins.
func (c Command) Waiting(w typeclient.Waiting) {
	if w.Reason != "" {
		c.Work.Events(events.OfWaiting(w))
	}
	c.UI.Waiting(w)
}

// Planned sends the changes of a plan as events; file is where it was saved.
func (c Command) Planned(p *plan.Plan, file string) {
	announce.Plan(c.Work.Events, c.Work.Secrets, p, file)
}

// Reported sends the end of an apply as events, and adds the report to the records.
func (c Command) Reported(r *apply.Report, recorded *state.Snapshot) {
	announce.Report(c.Work.Events, r, recorded)
	if content, err := c.ReportJSON(r); err == nil {
		c.Records().Report(content)
	}
}

// ReportJSON returns the report as it is written to a file.
func (c Command) ReportJSON(r *apply.Report) ([]byte, error) {
	content, err := json.MarshalIndent(r, "", "  ")
	return append(events.Redact(content, c.Work.Secrets.Hiding()), '\n'), err
}

// Learn takes note of the secrets in a state, which are hidden from now on.
func (c Command) Learn(s state.Snapshot) {
	for _, entry := range s.Resources {
		c.Work.Secrets.Learn(observe.SecretsOf(entry))
	}
	for _, o := range s.Operations {
		c.Work.Secrets.Learn(o.Secrets())
	}
	for _, a := range s.Artifacts {
		c.Work.Secrets.Learn(a.Secrets())
	}
	for _, p := range s.Pins {
		c.Work.Secrets.Learn(p.Secrets())
	}
}

// Nobody is a UI that shows nothing and answers no question.
type Nobody struct{}

// Diagnostics implements UI, as do all methods of Nobody.
func (Nobody) Diagnostics(diag.Diagnostics)                        {}
func (Nobody) Printf(string, ...any)                               {}
func (Nobody) Begin(string, int) func()                            { return func() {} }
func (Nobody) Planning(plan.Event)                                 {}
func (Nobody) Applying(apply.Event)                                {}
func (Nobody) Line(typeclient.Line)                                {}
func (Nobody) Waiting(typeclient.Waiting)                          {}
func (Nobody) Pulling(imagestore.Progress)                         {}
func (Nobody) Plan(*plan.Plan)                                     {}
func (Nobody) Explain(*plan.Plan, []*explain.Explanation)          {}
func (Nobody) Report(*plan.Plan, *apply.Report, *state.Snapshot)   {}
func (Nobody) Confirm(context.Context, string, bool) (bool, error) { return false, nil }
func (Nobody) AskVariable(context.Context, config.Missing) (string, error) {
	return "", errors.New("there is no terminal to prompt on")
}
func (Nobody) Question(context.Context, apply.Question) (apply.Answer, error) { return apply.Quit, nil }

// ErrorsOnly shows errors and warnings, and nothing else.
type ErrorsOnly struct {
	Nobody
	To UI
}

// Diagnostics implements UI.
func (h ErrorsOnly) Diagnostics(list diag.Diagnostics) { h.To.Diagnostics(list) }

// Unrecorded keeps no records.
type Unrecorded struct{}

// Begin implements Records, as do all methods of Unrecorded.
func (Unrecorded) Applies(string, []string, []actions.Override) {}
func (Unrecorded) Begin()                                       {}
func (Unrecorded) Add(typeclient.Invocation)                    {}
func (Unrecorded) Report([]byte)                                {}
