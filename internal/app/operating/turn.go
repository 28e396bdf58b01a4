package operating

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"deployster/apply"
	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/internal/base/schedule"
	"deployster/internal/base/secret"
	"deployster/plan"
	"deployster/state"
)

// Scheduler runs the scheduled operations of a state.
type Scheduler struct {
	Command command.Command
	Machine *machine.Machine
	Place   state.Place
}

// Due returns the names of the operations with a turn that is due, sorted.
func Due(s state.Snapshot, now time.Time) (names []string) {
	for name, o := range s.Operations {
		if _, due := turnOf(o, now); due && !s.Operations.Busy(name, now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// turnOf returns the turn of an operation that is due; what was missed counts once.
func turnOf(o state.Operation, now time.Time) (turn time.Time, due bool) {
	s, err := schedule.Parse(o.Schedule)
	if err != nil {
		return time.Time{}, false // a newer deployster has written it
	}
	return s.Due(o.Last(), now)
}

// Turn runs an operation whose turn is due, with the lock of the state; the turn is recorded before it starts, so that nobody else
// begins it. The report is nil if no turn is due any more. rest is what is left to do without the lock: nil = nothing.
func (s Scheduler) Turn(ctx context.Context, name string, now time.Time) (report *apply.Report, rest func() *apply.Report, err error) {
	loaded, err := stage.LoadEmpty(s.Command, plan.Selection{RefreshOnly: true})
	if err != nil {
		return nil, nil, err
	}
	loaded.Place = s.Place
	opened, err := stage.Relock(ctx, s.Command, loaded, "watch")
	if err != nil {
		return nil, nil, err
	}
	o, declared := opened.Prior.Operations[name]
	turn, due := turnOf(o, now)
	if !declared || !due || opened.Prior.Operations.Busy(name, now) {
		opened.Close()
		return nil, nil, nil
	}
	connected, err := stage.ActAgain(ctx, s.Command, opened, s.Machine, "watch", nil)
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	report, run, err := s.begin(ctx, connected, o, name, turn, now)
	opened.Close()
	if run == nil {
		connected.Close()
		return report, nil, err
	}
	return report, func() *apply.Report { defer connected.Close(); return run() }, err
}

// A run that is not in the journal ends after longestRun, unless its resource has a limit, and margin is for its end and for
// clocks that differ: by then it has certainly ended.
const (
	longestRun = 24 * time.Hour
	margin     = 2 * time.Minute
)

// Ended records that the run of a turn that is not in the journal has ended, so that the next one need not wait for its limit.
func (s Scheduler) Ended(ctx context.Context, name string) error {
	store, err := s.Command.Work.OpenState(ctx, s.Place, "watch")
	if err != nil {
		return err
	}
	journal, err := store.Begin(state.NewID(), store.Snapshot().Lineage)
	if err == nil {
		err = errors.Join(journal.Turn(name, store.Snapshot().Operations[name].Turn, time.Time{}), journal.Finish(state.StatusOK))
	}
	return errors.Join(err, store.Close())
}

// begin records a turn, and runs it, if it may change the object.
func (s Scheduler) begin(ctx context.Context, n stage.Connected, o state.Operation, name string, turn, now time.Time) (*apply.Report,
	func() *apply.Report, error) {
	s.Command.Work.Secrets.Learn(secret.Values(o.Input, o.Sensitive))
	id := state.NewID()
	journal, err := n.Begin(id)
	if err != nil {
		return nil, nil, err
	}
	if err := journal.Turn(name, turn, time.Time{}); err != nil {
		report := apply.Refused(nil, apply.Error, diag.From("Cannot record a scheduled run", err))
		report.Fail(journal.Finish(state.StatusError))
		return report, nil, nil
	}
	s.Command.Records().Begin()
	s.Command.Records().Applies(id, nil, nil)
	run := &operating{Options: Options{Name: o.Run, Auto: true}, command: s.Command}
	b, err := newBench(ctx, s.Command, n, []string{o.Resource})
	var t task
	if err == nil {
		t, err = b.task(ctx, o.Resource, o.Run, func(json.RawMessage) (json.RawMessage, error) { return o.Input, nil })
	}
	if err == nil {
		err = b.free(ctx, n, t, true)
	}
	var release func()
	if err == nil {
		run.tasks = []task{t}
		release, err = run.claim(s.Place, n.Prior)
	}
	if err != nil { // this turn is left out
		report := apply.Refused(nil, apply.Error, diag.From("A scheduled operation was not run", err))
		report.Fail(journal.Finish(state.StatusError))
		return report, nil, nil
	}
	if !t.operation.Changing() {
		limit := cmp.Or(time.Duration(t.step.Timeouts.Action), longestRun)
		t.step.Timeouts.Action = state.Duration(limit)
		if err := errors.Join(journal.Turn(name, turn, now.Add(limit+margin)), journal.Finish(state.StatusOK)); err != nil {
			release()
			return nil, nil, err
		}
		return nil, func() *apply.Report { defer release(); return run.carryOut(ctx, b, nil) }, nil
	}
	defer release()
	report := run.carryOut(ctx, b, &record{journal, id, n.Recorded().Lineage})
	report.Fail(journal.Finish(state.Status(report.Status)))
	return report, nil, nil
}
