package apply

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"deployster/apply/compare"
	"deployster/apply/entries"
	"deployster/apply/evaluate"
	"deployster/apply/facts"
	"deployster/apply/guarding"
	"deployster/apply/identity"
	"deployster/apply/latehost"
	"deployster/apply/query"
	"deployster/apply/report"
	"deployster/apply/rollout"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Executor queries images for states, and runs their actions. *typeclient.Client is one.
type Executor interface {
	query.Client
	// ActNotify runs an action, and reports to told how it ended, while other
	// clients can still find that out.
	ActNotify(ctx context.Context, t typeclient.Target, ty protocol.Type, a protocol.Action, in protocol.ActionInput,
		told func(runner.Result, error) error) (runner.Result, error)
}

// Journal makes facts durable: each call returns when its fact would survive a
// power cut. *state.Journal is one.
type Journal interface {
	AwaitSpace(ctx context.Context, addr, action string, returns int64) error
	GiveUp(addr, action string)
	ActionStarted(s state.Start) error
	ActionEnded(addr, action string, e state.End) error
	Valid(addr string, e state.Entry) error
	Failed(addr string) error
	Removed(addr string) error
	Moved(moves []moves.Move) error
	Outputs(outputs map[string]state.Output) error
}

// Options are the settings of Run.
type Options struct {
	Parallelism int
	InWorkers   int  // the same for resources whose type has a worker; 0 = Parallelism limits both
	KeepGoing   bool // continue after a failure with what does not depend on it
	Hosts       int  // hosts worked on at a time; 0 = order.Hosts
	// MaxFailedHosts is after how many failed hosts no further host is begun; 0 = no limit.
	MaxFailedHosts int
	Guard          guarding.Client     // has hosts undo guarded actions; nil = none can
	Waves          *turns.Schedule     // begins hosts in waves; nil = as soon as Hosts allows it
	Reacher        Reacher             // reaches hosts that become known only during apply; nil = there are none
	Abort          <-chan struct{}     // when closed, running actions are ended too, by SIGTERM and then SIGKILL
	Secret         func([]string)      // gets each sensitive value that becomes known, before an image sees it; may be nil
	Hide           func(string) string // masks the secrets in a text; nil = there are none
	Events         func(Event)         // called from many goroutines; may be nil
	Confirm        Confirm             // what a person is prompted to approve during the apply
	Deferred       Deferred            // what to do about changes that the plan could not show
	Kinds          []plan.Change       // kinds of change that are approved already
	// Ask prompts a person, one question at a time, and returns when ctx ends; nil = nobody can be
	// prompted.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Allowed reports whether actions that the plan could not show may be run; nil = all may.
	Allowed func(addr string, actions []protocol.Action) bool
	// Stays reports that nothing that exists may be destroyed, whatever becomes known: it is a later round of an apply.
	Stays bool
	// Left is what the plan leaves out because of hosts, with the reasons, by address.
	Left map[string]string
	// Pod returns the name of the Pod of an action with a key, if it has one of its own; nil = no action has one.
	Pod func(key string) string
	// Look reads what only check blocks read, given the states that are known; nil = they read nothing.
	Look func(ctx context.Context, s config.States) config.Looked
	Now  func() time.Time
}

// errAborted is the cause with which running work is ended at the second interrupt.
var errAborted = fmt.Errorf("interrupted: %w", context.Canceled)

// run is one apply in progress: a loop over what is ready. A stepRunner does each step.
type run struct {
	plan     *plan.Plan
	prior    state.Snapshot
	died     state.Applied    // an earlier run of this plan that was killed and is continued
	manifest *config.Manifest // of the plan's own sources
	journal  Journal
	exec     Executor
	options  Options
	work     context.Context // of running actions: outlives the first interrupt, ends at the second
	barriers map[string]order.Barrier
	facts    *facts.Facts
	stops    *stops
	groups   *guarding.Groups
	steps    *stepRunner      // nil until moves are made
	rollout  *rollout.Rollout // nil until moves are made and the layers begin

	ended []report.Ended // written only by the goroutine that owns the order
}

// Run carries out the plan. When ctx is cancelled it starts nothing new and lets running
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
	if o.Confirm != ConfirmPlan {
		o.Parallelism = 1
	}
	sum := &Report{Format: report.Format, Status: OK, Resources: map[string]*ResourceReport{}}
	r := &run{plan: p, prior: prior, journal: j, exec: x, options: o, work: work, facts: facts.New(p), barriers: map[string]order.Barrier{}}
	r.manifest = config.Converting(m, r.facts.TypeOf)
	r.died, _ = prior.Died(p.ID)
	r.stops = &stops{plan: p, journal: j, keepGoing: o.KeepGoing, hosts: turns.NewHosts(p, prior, o.MaxFailedHosts)}
	r.groups = guarding.New(p, o.Guard)
	for _, b := range p.Barriers {
		r.barriers[b.Name] = b
	}
	err := r.all(ctx, sum)
	return sum, err
}

// all runs all phases of the apply. It fills in the report even if this program
// panics.
func (r *run) all(ctx context.Context, report *Report) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d := diag.Crash(p, debug.Stack(), "Nothing new was started. What was done is in the state file.")
			outcomes := r.outcomes()
			_ = outcomes.Collect(report)
			outcomes.Leave(report)
			report.Fail(d)
			err = errors.Join(err, d)
		}
	}()
	err = r.move(report)
	r.steps = r.stepRunner()
	if err == nil && r.shutdownPhase(ctx) {
		r.layers(ctx)
	}
	return r.conclude(ctx, report, err)
}

// stepRunner returns what does the steps of the plan, with the state after the moves.
func (r *run) stepRunner() *stepRunner {
	queries := query.New(r.work, query.Of{Plan: r.plan, Prior: r.prior, Died: r.died, Manifest: r.manifest, Facts: r.facts, Client: r.exec})
	return &stepRunner{plan: r.plan, prior: r.prior, died: r.died, manifest: r.manifest, journal: r.journal, exec: r.exec,
		options: r.options,
		work:    r.work, facts: r.facts, hosts: r.stops.hosts, queries: queries, entries: entries.New(queries),
		identities: identity.New(queries), evaluated: evaluate.New(queries),
		late: latehost.New(r.work, queries, r.options.Reacher), recheck: dependenciesOfWork(r.plan),
		approvals: &approvals{options: r.options, given: map[*plan.Step]compare.Approved{}},
		groups:    r.groups, semaphores: turns.NewSemaphores(r.manifest.Semaphores()), batches: turns.NewBatches()}
}

// move gives entries their new addresses, before anything is done with the resources
// at these addresses.
func (r *run) move(report *Report) error {
	if len(r.plan.Moves) == 0 || r.died.Moved {
		return nil
	}
	moved, err := r.prior.Moved(r.plan.Moves)
	if err == nil {
		err = r.journal.Moved(r.plan.Moves)
	}
	if err != nil {
		return diag.From("Cannot move", err)
	}
	r.prior, report.Moves = moved, r.plan.Moves
	return nil
}

// dependenciesOfWork returns the dependencies of the resources that the plan changes, or may
// change: the states that these use must be true now, not only when the plan was made.
func dependenciesOfWork(p *plan.Plan) map[string]bool {
	recheck := map[string]bool{}
	for _, e := range p.Edges {
		if to := p.Resources[e.To]; !to.Settled() {
			recheck[e.From] = true
		}
	}
	return recheck
}

// layers walks the graph: one goroutine owns the frontier, workers do the nodes and
// send back their outcomes.
func (r *run) layers(ctx context.Context) {
	nodes, settling := r.groups.Order(r.plan.Nodes())
	frontier, stopping := graph.NewFrontier(nodes), false
	frontier.Lenient(settling...)
	for name, b := range r.barriers {
		if b.OrderOnly {
			frontier.Lenient(name)
		}
	}
	limits := limits(r.plan, r.options, frontier)
	for _, addr := range r.died.Begun {
		if r.plan.Resources[addr] != nil {
			limits.Begin(addr)
		}
	}
	for _, s := range r.steps.shutdowns {
		limits.Begin(s.Resource)
	}
	pool := graph.NewPool(limits, func(node string) outcome { return r.guarded(ctx, node) })
	defer pool.Close()
	stop := func(interrupted bool) {
		if !stopping {
			stopping = true
			r.options.event(Stopping{Interrupted: interrupted, Running: limits.Running()})
		}
	}
	done := ctx.Done()
	r.rollout = r.newRollout(limits)
	for frontier.Open() > 0 {
		pool.Start(func() bool { return !stopping && ctx.Err() == nil })
		if limits.Running() == 0 {
			if !stopping && r.rollout.Next(ctx, limits) {
				continue
			}
			break
		}
		select {
		case <-done:
			done = nil
			stop(true)
		case out := <-pool.Results():
			limits.Ended(out.Node)
			if out.Acted {
				limits.Begin(out.Node)
			}
			if out.What < order.Wait { // else it stands for no resource
				r.ended = append(r.ended, out.Ended)
			}
			for _, end := range out.settled {
				if r.settled(end); end.Failed() {
					r.stops.after(&outcome{Ended: end}, limits)
				}
			}
			switch {
			case out.declined:
				frontier.Drop(out.Node)
			case out.Failed():
				frontier.Drop(out.Node)
				if host, all := r.stops.after(&out, limits); all {
					stop(false)
				} else if host != "" {
					r.options.event(Stopping{Where: host, Running: limits.Running()})
				}
			default:
				frontier.Done(out.Node)
			}
		}
	}
	r.settleOpen()
	if stopping {
		r.rollout.Stop(ctx)
	} else {
		r.rollout.End(ctx, false)
	}
}

func (o *Options) event(e Event) {
	if o.Events != nil {
		o.Events(e)
	}
}
