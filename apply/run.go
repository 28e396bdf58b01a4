// Package apply carries out a plan: exactly what it says, in dependency order,
// in parallel, recording each fact before anything builds on it. It never
// plans again: what was decided is checked and done, or refused.
package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/diag"
	"deployster/internal/graph"
	"deployster/internal/invoke"
	"deployster/internal/typeclient"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// Executor asks images, and runs their actions. *typeclient.Client is one.
type Executor interface {
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeclient.Violation
	Act(ctx context.Context, t typeclient.Target, ty protocol.Type, a protocol.Action, in protocol.ActionInput) (invoke.Result, error)
}

// Journal makes facts durable: each call returns when its fact would survive a
// power cut. *state.Journal is one.
type Journal interface {
	ActionStarted(addr, action, key string) error
	ActionEnded(addr, action string, exit int, reason string) error
	Valid(addr string, e state.Entry) error
	Removed(addr string) error
	Moved(moves []state.Move) error
	Outputs(outputs map[string]state.Output) error
}

// Options steer Run.
type Options struct {
	Parallelism int
	KeepGoing   bool            // after a failure go on with what does not depend on it
	Abort       <-chan struct{} // closed: also end what is running, by SIGTERM and then SIGKILL
	Secret      func([]string)  // told of each sensitive value that became known, before an image sees it; nil = nobody
	Events      func(Event)     // called from many goroutines; nil = nobody watches
	Now         func() time.Time
}

// errAborted is why running work is ended at the second interrupt.
var errAborted = fmt.Errorf("interrupted: %w", context.Canceled)

// run is one apply in progress.
type run struct {
	plan     *plan.Plan
	prior    state.Snapshot
	manifest *config.Manifest // of the plan's own sources
	journal  Journal
	exec     Executor
	options  Options
	before   graph.Graph
	feeds    map[string]bool // what something that will act depends on: its state is asked again
	work     context.Context // of what runs: outlives the first interrupt, ends at the second

	mu       sync.Mutex // guards what follows
	views    map[string]plan.View
	shutdown []ShutdownReport
	stopped  map[string]bool // whose shutdown_first has run
}

// outcome is what a worker says of a resource.
type outcome struct {
	addr    string
	report  ResourceReport
	problem *diag.Diagnostic
	fatal   bool // the journal failed: start nothing at all
	acted   bool // an action was started
}

// Run carries out the plan. Cancelling ctx starts nothing new and lets running
// actions finish. The report is never nil; the error is set only when a fact
// could not be made durable.
func Run(ctx context.Context, p *plan.Plan, m *config.Manifest, prior state.Snapshot, j Journal, x Executor, o Options) (*Report, error) {
	work, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	go func() {
		select {
		case <-o.Abort:
			abort(errAborted)
		case <-work.Done():
		}
	}()
	report := &Report{Format: ReportFormat, Status: OK, Resources: map[string]*ResourceReport{}}
	r := &run{plan: p, prior: prior, manifest: m, journal: j, exec: x, options: o, work: work,
		before: p.Before(), feeds: feeding(p), views: map[string]plan.View{}, stopped: map[string]bool{}}
	moved := r.move(report)
	var outcomes []outcome
	if moved == nil {
		outcomes = r.shutdownPhase(ctx)
	}
	if moved == nil && len(outcomes) == 0 {
		outcomes = r.layers(ctx)
	}
	err := r.conclude(ctx, report, outcomes)
	return report, errors.Join(moved, err)
}

// move gives recorded resources their new addresses, before anything is done
// under them.
func (r *run) move(report *Report) error {
	if len(r.plan.Moves) == 0 {
		return nil
	}
	moved, err := r.prior.Moved(r.plan.Moves)
	if err == nil {
		err = r.journal.Moved(r.plan.Moves)
	}
	if err != nil {
		report.Status = Error
		return diag.From("Cannot move", err)
	}
	r.prior, report.Moves = moved, r.plan.Moves
	return nil
}

// feeding says which resources something depends on that will act: what such a
// one is made with must be true now, not only when it was planned.
func feeding(p *plan.Plan) map[string]bool {
	feeds := map[string]bool{}
	for _, e := range p.Edges {
		if to := p.Resources[e.To]; to.Change != plan.Valid || to.MayChange {
			feeds[e.From] = true
		}
	}
	return feeds
}

// layers walks the graph: one goroutine owns the frontier, workers do the
// resources and send back what became of them.
func (r *run) layers(ctx context.Context) []outcome {
	frontier, results := graph.NewFrontier(r.before), make(chan outcome)
	var outcomes []outcome
	running, stopping := 0, false
	stop := func(interrupted bool) {
		if !stopping {
			stopping = true
			r.event(Stopping{Interrupted: interrupted, Running: running})
		}
	}
	done := ctx.Done()
	for frontier.Open() > 0 {
		for !stopping && ctx.Err() == nil && running < max(1, r.options.Parallelism) {
			addr, ok := frontier.Take()
			if !ok {
				break
			}
			running++
			go func() { results <- r.resource(ctx, addr) }()
		}
		if running == 0 {
			break
		}
		select {
		case <-done:
			done = nil
			stop(true)
		case out := <-results:
			running--
			outcomes = append(outcomes, out)
			switch out.report.Status {
			case Error, Interrupted, Unknown:
				frontier.Drop(out.addr)
				if !r.options.KeepGoing || out.fatal {
					stop(false)
				}
			default:
				frontier.Done(out.addr)
			}
		}
	}
	return outcomes
}

// resource does one resource and says how that ended.
func (r *run) resource(ctx context.Context, addr string) outcome {
	start := r.options.Now()
	step := r.plan.Resources[addr]
	out := outcome{addr: addr, report: ResourceReport{Planned: names(step.Actions)}}
	switch {
	case step.Change == plan.Forget:
		r.forget(&out)
	case step.Change == plan.Left:
		out.report.Status = LeftAlone
	case step.Change == plan.Valid && r.plan.Selection.RefreshOnly:
		out.report.Status = Unchanged
	case step.Change == plan.Record:
		r.recordFound(step, &out)
	default:
		r.perform(ctx, step, &out)
	}
	r.event(ResourceEnded{Address: addr, Change: step.Change, Report: out.report, Took: r.options.Now().Sub(start)})
	return out
}

// forget drops a resource from the state file and touches nothing.
func (r *run) forget(out *outcome) {
	out.report.Status = OK
	if err := r.journal.Removed(out.addr); err != nil {
		out.failJournal(err)
	}
}

// conclude turns what the workers said into the report, and records the outputs.
func (r *run) conclude(ctx context.Context, report *Report, outcomes []outcome) error {
	var fatal error
	report.Shutdown = r.shutdown
	slices.SortFunc(outcomes, func(a, b outcome) int { return cmp.Compare(a.addr, b.addr) })
	for _, out := range outcomes {
		res := out.report
		report.Resources[out.addr] = &res
		if out.problem != nil {
			report.Problems = append(report.Problems, out.problem)
		}
		if out.fatal {
			fatal = out.problem
		}
	}
	for addr, step := range r.plan.Resources {
		if report.Resources[addr] == nil {
			planned := names(step.Actions)
			report.Resources[addr] = &ResourceReport{Status: NotStarted, Planned: planned, NotAttempted: planned}
		}
	}
	counts := report.Counts()
	switch {
	case ctx.Err() != nil && counts[Interrupted]+counts[NotStarted] > 0, counts[Interrupted] > 0:
		report.Status = Interrupted
	case counts[Error]+counts[Unknown]+counts[NotStarted] > 0:
		report.Status = Error
	}
	if report.Status == OK && fatal == nil {
		fatal = r.outputs(report)
	}
	r.checks(report)
	return fatal
}

// outputs evaluates the outputs with what came true, and records them.
func (r *run) outputs(report *Report) error {
	values, diags := r.manifest.Outputs(plan.Scope(slices.Sorted(maps.Keys(r.plan.Resources)), r.look, r.prior))
	for _, v := range values {
		if len(v.Open) > 0 && !r.plan.Outputs[v.Name].LeftOut {
			diags = append(diags, stillOpen("A precondition of the output "+v.Name, v.Open))
		}
	}
	report.Problems = append(report.Problems, diags...)
	if diags.HasErrors() {
		report.Status = Error
		return nil
	}
	outputs := make(map[string]state.Output, len(values))
	for _, v := range values {
		outputs[v.Name] = state.Output{Value: v.Value, Sensitive: v.Sensitive}
	}
	for name, o := range r.plan.Outputs {
		if !o.LeftOut {
			continue
		}
		delete(outputs, name)
		if prior, known := r.prior.Outputs[name]; known {
			outputs[name] = prior
		}
	}
	if maps.EqualFunc(outputs, r.prior.Outputs, func(a, b state.Output) bool {
		return string(a.Value) == string(b.Value) && a.Sensitive == b.Sensitive
	}) {
		return nil
	}
	if err := r.journal.Outputs(outputs); err != nil {
		report.Status = Error
		return err
	}
	return nil
}

// look gives a resource as it is now known to be; before its turn that is what
// the plan expects.
func (r *run) look(addr string) plan.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.views[addr]; ok {
		return v
	}
	if step, ok := r.plan.Resources[addr]; ok {
		return step.View()
	}
	return plan.View{Partial: true}
}

func (r *run) event(e Event) {
	if r.options.Events != nil {
		r.options.Events(e)
	}
}
