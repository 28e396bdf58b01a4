package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"deployster/apply/compare"
	"deployster/apply/facts"
	"deployster/apply/turns"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// Executor asks images for states, and runs their actions. *typeclient.Client is one.
type Executor interface {
	typeschema.Reader
	State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error)
	CheckConfig(ty protocol.Type, config json.RawMessage, unknown map[string]string) []typeschema.Violation
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
	Reacher        Reacher             // reaches hosts that become known only during apply; nil = there are none
	Abort          <-chan struct{}     // when closed, running actions are ended too, by SIGTERM and then SIGKILL
	Secret         func([]string)      // gets each sensitive value that becomes known, before an image sees it; may be nil
	Hide           func(string) string // masks the secrets in a text; nil = there are none
	Events         func(Event)         // called from many goroutines; may be nil
	Confirm        Confirm             // what a person is asked to approve during the apply
	Deferred       Deferred            // what to do about changes that the plan could not show
	Kinds          []plan.Change       // kinds of change that are approved already
	// Ask asks a person, one question at a time, and returns when ctx ends; nil = nobody
	// can be asked.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// Allowed reports whether actions that the plan could not show may be run; nil = all may.
	Allowed func(addr string, actions []protocol.Action) bool
	// Left is what the plan leaves out because of hosts, with the reasons, by address.
	Left map[string]string
	Now  func() time.Time
}

// errAborted is the cause with which running work is ended at the second interrupt.
var errAborted = fmt.Errorf("interrupted: %w", context.Canceled)

// run is one apply in progress.
type run struct {
	plan     *plan.Plan
	prior    state.Snapshot
	died     state.Applied    // an earlier run of this plan that was killed and is continued
	manifest *config.Manifest // of the plan's own sources
	journal  Journal
	exec     Executor
	queries  queries
	options  Options
	before   graph.Graph
	needs    map[string][]string // the dependencies of each resource
	recheck  map[string]bool     // dependencies of resources with actions: their states are asked again
	barriers map[string]order.Barrier
	workdir  string          // its path has no symbolic links
	work     context.Context // of running actions: outlives the first interrupt, ends at the second

	news       map[string][]string // by subscribed resource: subscribers whose entries lack the subscription
	facts      *facts.Facts
	owners     owners
	approvals  *approvals
	semaphores turns.Semaphores
	batches    *turns.Batches
	remade     remade

	shutdownMu sync.Mutex
	shutdowns  []ShutdownReport // of the shutdown_first actions that were run; guarded by shutdownMu

	stops *stops

	ended []outcome // written only by the goroutine that owns the order
}

// outcome is what a worker reports about a node.
type outcome struct {
	addr    string
	node    string // its name in plan.Nodes
	what    order.What
	old     bool // the node is the end of the old thing of a replaced resource
	report  ResourceReport
	problem *diag.Diagnostic
	fatal   bool   // the journal or this program failed: nothing new may start
	silent  bool   // an action returned no memory, though its type has one
	acted   bool   // an action was started
	again   bool   // this is not the first attempt
	running string // the action in progress

	incomplete *state.Entry // the entry recorded with its first action; nil = there is an entry already

	gone     bool // its host could not be used
	declined bool // it was not approved: what does not depend on it continues

	batchGroup string // the resources whose actions may be carried out together with its own; "" = none
	leaveBatch func() // notes that it does not join a batch any more
}

// begun reports whether a node was carried out, or a part of it.
func (o *outcome) begun() bool {
	return o.acted || o.report.Status == OK || o.report.Status == Skipped
}

// failed reports whether nothing that depends on the node may start.
func (o *outcome) failed() bool {
	return o.report.Status == Error || o.report.Status == Interrupted || o.report.Status == Unknown
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
	report := &Report{Format: ReportFormat, Status: OK, Resources: map[string]*ResourceReport{}}
	r := &run{plan: p, prior: prior, manifest: m, journal: j, exec: x, queries: queries{work, x}, options: o, work: work,
		before: p.Before(), needs: p.Needs(), recheck: dependenciesOfWork(p), facts: facts.New(p),
		approvals: &approvals{options: o, given: map[*plan.Step]compare.Approved{}}, semaphores: turns.NewSemaphores(m.Semaphores()),
		batches:  turns.NewBatches(),
		barriers: map[string]order.Barrier{}, workdir: runner.RealDir(p.Workspace)}
	r.manifest = config.Converting(m, func(addr string) protocol.Type {
		if step := p.Resources[addr]; step != nil {
			return step.Init
		}
		return protocol.Type{}
	})
	r.died, _ = prior.Died(p.ID)
	r.stops = &stops{r: r, hosts: turns.NewHosts(p, prior, o.MaxFailedHosts, func(addr string) string { return hostOf(p, addr) })}
	for _, b := range p.Barriers {
		r.barriers[b.Name] = b
	}
	err := r.all(ctx, report)
	return report, err
}

// all runs all phases of the apply. It fills in the report even if this program
// panics.
func (r *run) all(ctx context.Context, report *Report) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d := diag.Crash(p, debug.Stack(), "Nothing new was started. What was done is in the state file.")
			r.collect(report)
			leave(r, report)
			report.Fail(d)
			err = errors.Join(err, d)
		}
	}()
	if err = r.move(report); err == nil {
		r.news = refresh.News(r.manifest, r.prior)
		if r.shutdownPhase(ctx) {
			r.layers(ctx)
		}
	}
	return r.conclude(ctx, report, err)
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
	frontier, stopping := graph.NewFrontier(r.plan.Nodes()), false
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
	pool := graph.NewPool(limits, func(node string) outcome { return r.guarded(ctx, node) })
	defer pool.Close()
	stop := func(interrupted bool) {
		if !stopping {
			stopping = true
			r.options.event(Stopping{Interrupted: interrupted, Running: limits.Running()})
		}
	}
	done := ctx.Done()
	for frontier.Open() > 0 {
		pool.Start(func() bool { return !stopping && ctx.Err() == nil })
		if limits.Running() == 0 {
			break
		}
		select {
		case <-done:
			done = nil
			stop(true)
		case out := <-pool.Results():
			limits.Ended(out.node)
			if out.acted {
				limits.Begin(out.node)
			}
			if out.what != order.Wait {
				r.ended = append(r.ended, out)
			}
			switch {
			case out.declined:
				frontier.Drop(out.node)
			case out.failed():
				frontier.Drop(out.node)
				if r.stops.after(&out, limits) {
					stop(false)
				}
			default:
				frontier.Done(out.node)
			}
		}
	}
}

// resource does the step of one resource, or of its old thing; out says how that ended.
func (r *run) resource(ctx context.Context, out *outcome) {
	start := r.options.Now()
	step := r.plan.Resources[out.addr]
	if out.old {
		step = step.Old()
	}
	out.report.Host, out.report.Planned = hostOf(r.plan, out.addr), names(step.Answer().Actions)
	switch {
	case out.old && r.endedBefore(out.addr):
		out.report.Status = Skipped
	case r.stops.holds(step, out):
	case step.Change() == plan.Forget:
		if r.approvals.forget(ctx, step, out) {
			r.forget(step, out)
		}
	case step.Change() == plan.Left:
		out.report.Status = Kept
	case step.Change() == plan.Valid && r.plan.Selection.RefreshOnly:
		out.report.Status = Unchanged
	case step.Change() == plan.Record:
		r.recordFound(step, out)
	default:
		r.perform(ctx, step, out)
	}
	if out.old && !out.failed() && !out.declined {
		return // the event is sent when the new thing is done
	}
	r.options.event(ResourceEnded{Address: out.addr, Change: step.Shown(), Report: out.report, Took: r.options.Now().Sub(start)})
}

// forget removes the entry of a resource from the state file and changes nothing else. A
// thing that is forgotten because it does not exist must still not exist.
func (r *run) forget(step *plan.Step, out *outcome) {
	if r.plan.Selection.RefreshOnly || step.Gone() {
		if _, ok := (doubts{r}).still(step, out, protocol.Missing); !ok {
			return
		}
	}
	out.report.Status = OK
	if err := r.journal.Removed(out.addr); err != nil {
		out.failJournal(err)
	}
}

func (o *Options) event(e Event) {
	if o.Events != nil {
		o.Events(e)
	}
}
