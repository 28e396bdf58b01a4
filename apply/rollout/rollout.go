package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
)

// Apply is what a rollout has of its apply.
type Apply struct {
	Hosts    *turns.Hosts
	Checks   func() ([]config.CheckResult, diag.Diagnostics)
	Query    func(ctx context.Context, number int, hosts []string) (failed []report.Ended) // queries the resources of a wave again
	Soaking  func(number int, hosts []string, soak time.Duration)                          // a wave is followed by its soak
	Stopping func()                                                                        // the user has interrupted a soak
	Ended    func(number int, wave report.Wave, closed bool)                               // a wave has ended
}

// Rollout is what an apply does between the waves in which it begins hosts: it waits, has the
// resources of the wave's hosts queried again, and evaluates the gates.
type Rollout struct {
	apply    Apply
	schedule *turns.Schedule // nil = there are no waves
	closed   bool            // a gate has failed

	Waves    []report.Wave
	Failed   []report.Ended // resources that were not VALID after a soak
	Cut      bool           // the user has interrupted a soak
	Problems diag.Diagnostics
}

// New returns the rollout of an apply. Without a schedule there are no waves.
func New(s *turns.Schedule, a Apply) *Rollout { return &Rollout{schedule: s, apply: a} }

// Begin begins the first wave.
func (w *Rollout) Begin(limits *graph.Limits) {
	if w.schedule != nil {
		limits.Wave(w.schedule.First(w.apply.Hosts.Begun()))
	}
}

// Next ends a wave in which nothing can start any more, and begins the next one. It reports whether
// there is one.
func (w *Rollout) Next(ctx context.Context, limits *graph.Limits) bool {
	if w.schedule == nil {
		return false
	}
	more := limits.Held()
	w.End(ctx, more)
	switch {
	case !more || ctx.Err() != nil || w.fatal():
		return false
	case w.closed:
		limits.NoWaves() // what needs no action is still done, and the rest declined
	default:
		limits.Wave(w.schedule.Next())
	}
	return true
}

// fatal reports whether a fact could not be made durable.
func (w *Rollout) fatal() bool {
	return slices.ContainsFunc(w.Failed, func(e report.Ended) bool { return e.Fatal })
}

// End ends the wave of the hosts that were begun since the last one. more reports whether hosts
// wait for the next one.
func (w *Rollout) End(ctx context.Context, more bool) {
	hosts := w.takeWave()
	if len(hosts) == 0 {
		return
	}
	number := len(w.Waves) + 1
	if soak := w.schedule.Soak; soak > 0 && ctx.Err() == nil {
		w.apply.Soaking(number, hosts, soak)
		if pause(ctx, soak) {
			w.Failed = append(w.Failed, w.apply.Query(ctx, number, hosts)...)
		}
		if w.Cut = ctx.Err() != nil; w.Cut {
			w.apply.Stopping()
		}
	}
	wave := report.Wave{Hosts: hosts, Status: report.OK}
	if ctx.Err() != nil {
		wave.Status = report.Interrupted
	} else if wave.FailedGates = w.failedGates(); more && len(wave.FailedGates) > 0 {
		wave.Status = report.Incomplete
		w.close(number, wave)
	}
	w.add(wave)
}

// Stop notes the hosts that were begun since the last wave: nothing new may start, so that nothing
// follows it.
func (w *Rollout) Stop(ctx context.Context) {
	hosts := w.takeWave()
	if len(hosts) == 0 {
		return
	}
	wave := report.Wave{Hosts: hosts, Status: report.Incomplete}
	if ctx.Err() != nil {
		wave.Status = report.Interrupted
	}
	w.add(wave)
}

// takeWave returns the hosts that were begun since the last wave.
func (w *Rollout) takeWave() []string {
	if w.schedule == nil {
		return nil
	}
	return w.apply.Hosts.TakeWave()
}

// add notes a wave that has ended.
func (w *Rollout) add(wave report.Wave) {
	if slices.ContainsFunc(wave.Hosts, w.apply.Hosts.Failed) {
		wave.Status = report.Error
	}
	w.Waves = append(w.Waves, wave)
	w.apply.Ended(len(w.Waves), wave, w.closed)
}

// failedGates returns the checks that are gates and fail, with the states that are known now.
func (w *Rollout) failedGates() (names []string) {
	results, _ := w.apply.Checks()
	for _, c := range results {
		if c.Gate && c.Status == config.CheckFail {
			names = append(names, c.Name)
		}
	}
	return names
}

// close lets no further host begin.
func (w *Rollout) close(number int, wave report.Wave) {
	gates := "the gate " + wave.FailedGates[0]
	if len(wave.FailedGates) > 1 {
		gates = "the gates " + strings.Join(wave.FailedGates, ", ")
	}
	w.closed = true
	w.apply.Hosts.Close(fmt.Sprintf("no further wave was started: %s failed after wave %d", gates, number))
	w.Problems = append(w.Problems, diag.Warningf("No further wave was started", "After wave %d (%s), %s failed. The hosts of later waves "+
		"are unchanged. Plan and apply again when the cause is removed.", number, strings.Join(wave.Hosts, ", "), gates))
}

// pause waits, and reports whether it was not interrupted.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
