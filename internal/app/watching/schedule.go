package watching

import (
	"context"
	"errors"
	"time"

	"deployster/apply"
	"deployster/internal/app/operating"
	"deployster/internal/base/diag"
	"deployster/state"
)

// scheduler runs the scheduled operations of the state when their turns are due, one after the other.
type scheduler struct {
	w     *watcher
	tries map[string]*try // by operation: those that could not begin
}

// scheduleAgain is the longest time between two tries to begin an operation.
const scheduleAgain = 10 * time.Minute

// loop runs them until its context ends.
func (s *scheduler) loop(ctx context.Context) {
	w := s.w
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		w.mu.Lock()
		prior := w.current.look.prior
		w.mu.Unlock()
		for _, name := range operating.Due(prior, time.Now()) {
			if t := s.tries[name]; t == nil || !time.Now().Before(t.next) {
				s.turn(ctx, name, prior.Operations[name])
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turn runs a scheduled operation, and has the state read again, which has its turn. While another command holds the state it waits.
func (s *scheduler) turn(ctx context.Context, name string, o state.Operation) {
	w := s.w
	run := &repairRun{w: w, addrs: []string{o.Resource}, title: "Running the operation " + name}
	report, err := s.run(ctx, run, name)
	switch {
	case errors.Is(err, state.ErrLocked), ctx.Err() != nil && report == nil:
		return // it is due again
	case err != nil:
		if s.postpone(name, err, time.Now()) {
			w.engine.Command.Work.Diagnostics(diag.From("Cannot run the operation "+name, err))
		}
		run.end(apply.Error, nil)
		return
	case report != nil:
		w.engine.Command.Work.Diagnostics(report.Problems)
		w.line("operation %s: %s", name, report.Status)
		run.end(report.Status, nil)
	}
	delete(s.tries, name)
	select {
	case w.again <- struct{}{}:
	default:
	}
	select { // until it is read, the turn counts as due
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

// postpone has a turn that could not begin tried again after a pause, which doubles while the reason stays the same. It
// reports whether the reason is new.
func (s *scheduler) postpone(name string, why error, now time.Time) (news bool) {
	t := s.tries[name]
	if news = t == nil || t.version != why.Error(); news {
		t = &try{version: why.Error(), pause: time.Second}
		s.tries[name] = t
	} else {
		t.pause = min(2*t.pause, scheduleAgain)
	}
	t.next = now.Add(t.pause)
	return news
}

// run runs an operation with the state held, and what needs no state after that.
func (s *scheduler) run(ctx context.Context, run *repairRun, name string) (*apply.Report, error) {
	w := s.w
	keeper := w.engine.Child(run.send, run)
	w.mu.Lock()
	place := w.current.source.Place
	w.mu.Unlock()
	w.stateMu.Lock()
	by := operating.Scheduler{Command: keeper.Command, Machine: keeper.Machine, Place: place}
	report, rest, err := by.Turn(ctx, name, time.Now())
	w.letGo = time.Now()
	w.stateMu.Unlock()
	if rest != nil {
		report = rest()
		s.ended(ctx, by, name)
	}
	if report != nil {
		keeper.Command.Reported(report, nil)
	}
	return report, err
}

// ended records that a run that needed no state has ended. While another command holds the state it waits: the next turn needs
// it too. What cannot be recorded counts as running until the limit of its run.
func (s *scheduler) ended(ctx context.Context, by operating.Scheduler, name string) {
	w := s.w
	for {
		w.stateMu.Lock()
		err := by.Ended(context.WithoutCancel(ctx), name)
		w.letGo = time.Now()
		w.stateMu.Unlock()
		if err != nil && !errors.Is(err, state.ErrLocked) {
			w.engine.Command.Work.Diagnostics(diag.From("Cannot record the end of the operation "+name, err))
		}
		if !errors.Is(err, state.ErrLocked) || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
