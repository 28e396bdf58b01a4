package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deployster/apply/report"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/order"
	"deployster/protocol"
)

// rollout is what an apply does between the waves in which it begins hosts: it waits, queries the
// resources of the wave's hosts again, and evaluates the gates.
type rollout struct {
	schedule *turns.Schedule // nil = there are no waves
	steps    *stepRunner
	stops    *stops
	checks   func() ([]config.CheckResult, diag.Diagnostics)

	waves    []report.Wave
	failed   []report.Ended // resources that were not VALID after a soak
	cut      bool           // the user has interrupted a soak
	closed   bool           // a gate has failed
	problems diag.Diagnostics
}

// begin begins the first wave.
func (w *rollout) begin(limits *graph.Limits) {
	if w.schedule != nil {
		limits.Wave(w.schedule.First(w.stops.hosts.Begun()))
	}
}

// next ends a wave in which nothing can start any more, and begins the next one. It reports whether
// there is one.
func (w *rollout) next(ctx context.Context, limits *graph.Limits) bool {
	if w.schedule == nil {
		return false
	}
	more := limits.Held()
	w.end(ctx, limits, more)
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
func (w *rollout) fatal() bool {
	return slices.ContainsFunc(w.failed, func(e report.Ended) bool { return e.Fatal })
}

// end ends the wave of the hosts that were begun since the last one. more reports whether hosts
// wait for the next one.
func (w *rollout) end(ctx context.Context, limits *graph.Limits, more bool) {
	hosts := w.takeWave()
	if len(hosts) == 0 {
		return
	}
	number := len(w.waves) + 1
	if soak := w.schedule.Soak; soak > 0 && ctx.Err() == nil {
		w.steps.options.event(WaveSoaking{Number: number, Hosts: hosts, Soak: soak})
		if pause(ctx, soak) {
			w.query(ctx, limits, number, hosts)
		}
		if w.cut = ctx.Err() != nil; w.cut {
			w.steps.options.event(Stopping{Interrupted: true})
		}
	}
	wave := report.Wave{Hosts: hosts, Status: OK}
	if ctx.Err() != nil {
		wave.Status = Interrupted
	} else if wave.FailedGates = w.failedGates(); more && len(wave.FailedGates) > 0 {
		wave.Status = Incomplete
		w.close(number, wave)
	}
	w.add(wave)
}

// stop notes the hosts that were begun since the last wave: nothing new may start, so that nothing
// follows it.
func (w *rollout) stop(ctx context.Context) {
	hosts := w.takeWave()
	if len(hosts) == 0 {
		return
	}
	wave := report.Wave{Hosts: hosts, Status: Incomplete}
	if ctx.Err() != nil {
		wave.Status = Interrupted
	}
	w.add(wave)
}

// takeWave returns the hosts that were begun since the last wave.
func (w *rollout) takeWave() []string {
	if w.schedule == nil {
		return nil
	}
	return w.stops.hosts.TakeWave()
}

// add notes a wave that has ended.
func (w *rollout) add(wave report.Wave) {
	if slices.ContainsFunc(wave.Hosts, w.stops.hosts.Failed) {
		wave.Status = Error
	}
	w.waves = append(w.waves, wave)
	w.steps.options.event(WaveEnded{Number: len(w.waves), Wave: wave, Closed: w.closed})
}

// query queries the resources of the wave's hosts again. The host of one that is not VALID has failed.
func (w *rollout) query(ctx context.Context, limits *graph.Limits, number int, hosts []string) {
	nodes, p := graph.Graph{}, w.steps.plan
	for addr, step := range p.Resources {
		_, reached := w.steps.facts.Reached(addr)
		if reached && step.Intent() == protocol.Present && slices.Contains(hosts, turns.HostName(step)) {
			nodes[addr] = nil
		}
	}
	var mu sync.Mutex
	var failed []*outcome
	where := func(addr string) order.Location { return turns.Where(p, addr) }
	order.Visit(ctx, nodes, room(w.steps.options), where, func(addr string) bool {
		out := &outcome{Ended: report.Ended{Addr: addr, Node: addr}}
		if w.steps.soaked(out, number); out.Failed() && out.Report.Status != Interrupted {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, out)
		}
		return true
	})
	slices.SortFunc(failed, func(a, b *outcome) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, out := range failed {
		w.stops.fail(out)
		w.stops.after(out, limits)
		w.failed = append(w.failed, out.Ended)
		w.steps.options.event(ResourceEnded{Address: out.Addr, Change: p.Resources[out.Addr].Shown(), Report: out.Report})
	}
}

// failedGates returns the checks that are gates and fail, with the states that are known now.
func (w *rollout) failedGates() (names []string) {
	results, _ := w.checks()
	for _, c := range results {
		if c.Gate && c.Status == config.CheckFail {
			names = append(names, c.Name)
		}
	}
	return names
}

// close lets no further host begin.
func (w *rollout) close(number int, wave report.Wave) {
	gates := "the gate " + wave.FailedGates[0]
	if len(wave.FailedGates) > 1 {
		gates = "the gates " + strings.Join(wave.FailedGates, ", ")
	}
	w.closed = true
	w.stops.hosts.Close(fmt.Sprintf("no further wave was started: %s failed after wave %d", gates, number))
	w.problems = append(w.problems, diag.Warningf("No further wave was started", "After wave %d (%s), %s failed. The hosts of later waves "+
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
