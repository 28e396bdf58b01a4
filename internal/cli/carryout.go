package cli

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
)

// carryOut runs the plan, and reports in every case.
func (s *session) carryOut(c *cli.Context, store *state.Store, t *task) error {
	// A plan that was made without a state fits one that has begun since, as
	// long as that knows nothing of its resources: apply.Check has seen to it.
	journal, err := store.Begin(t.plan.ID, cmp.Or(t.plan.Lineage, store.Snapshot().Lineage))
	if err != nil {
		return err
	}
	s.env.account.recorder.Begin()
	s.send(events.Event{Level: events.Info, Message: "Applying", Body: events.ApplyStarted{Plan: t.plan.ID}})
	o := t.options
	o.Parallelism, o.InWorkers, o.KeepGoing, o.Abort = c.Int("parallelism"), inWorkers(c), c.Bool("keep-going"), s.env.Abort
	o.Events, o.Now, o.Secret = s.applying, time.Now, s.vault.add
	end := s.ui.Begin("Applying", toDo(t.plan))
	report, err := apply.Run(c.Context, t.plan, t.manifest.Applying(time.Now()), store.Snapshot(), journal, t.client, o)
	end()
	s.release()
	err = errors.Join(err, journal.Finish(status(report)))
	err = errors.Join(untold(err, report.Problems), t.report.write(report))
	s.err.Diagnostics(s.hidden(report.Problems))
	var recorded *state.Snapshot
	if now := store.Snapshot(); err == nil && report.Status == apply.OK {
		recorded = &now
	}
	s.ui.Report(t.plan, report, recorded)
	s.tellReport(report, recorded)
	switch {
	case err != nil:
		return err
	case report.Status == apply.Interrupted:
		return exitStatus(exitInterrupted)
	case report.Status != apply.OK:
		return exitStatus(exitError)
	}
	return nil
}

// untold leaves of an error what is not among the problems of a report already.
func untold(err error, told diag.Diagnostics) error {
	var left diag.Diagnostics
	for _, d := range diag.From("Error", err) {
		if !slices.Contains(told, d) {
			left = append(left, d)
		}
	}
	return left.Err()
}

// hidden takes the secrets out of messages that quote what images print.
func (s *session) hidden(list diag.Diagnostics) diag.Diagnostics {
	out := make(diag.Diagnostics, len(list))
	for i, d := range list {
		out[i] = d.Hidden(s.vault.hide)
	}
	return out
}

func status(r *apply.Report) state.Status {
	switch r.Status {
	case apply.OK:
		return state.StatusOK
	case apply.Interrupted:
		return state.StatusInterrupted
	}
	return state.StatusError
}

// toDo counts the resources for which a plan may do something.
func toDo(p *plan.Plan) int {
	n := 0
	for _, step := range p.Resources {
		if step.Change != plan.Valid || step.MayChange {
			n++
		}
	}
	return n
}
