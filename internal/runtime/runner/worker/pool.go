package worker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
)

// maxFailures is how many workers of a group may end unexpectedly within failuresCount.
// After that each invocation gets a container of its own, until the first of these failures
// is older than failuresCount. inContainers is how many of these containers run at a time.
const (
	maxFailures   = 3
	failuresCount = 10 * time.Minute
	inContainers  = 10
)

// Options are the constants of a Pool.
type Options struct {
	Runner   runner.Runner   // runs the invocations that no worker can carry out
	Launcher runner.Launcher // starts the workers
	Max      int             // default of Settings.Workers: workers with the same image, mounts and settings; with the whole machine 1

	// Grace is how long a worker may take to end after its stdin is closed; 0 =
	// runner.DefaultGrace.
	Grace time.Duration

	// Keep: workers that an earlier command has kept are used, and kept again when the
	// Pool is closed. Private reports whether a text contains something that no program
	// may know after this command; nil = no text does.
	Keep    bool
	Private func(text string) bool

	// Hide removes secrets from what a worker printed, before a part of it is shown; nil = there are none.
	Hide func(text string) string
}

// Pool is a runner.Runner that uses workers where possible. It starts workers when they
// are first needed, and ends or keeps them in Close.
type Pool struct {
	o    Options
	cold chan struct{} // has an element for each invocation with a Worker that runs in a container of its own

	mu     sync.Mutex
	groups map[string]*group
	latest *group // the group of the last invocation; mostly also of the next one
	closed bool

	batches map[string]*batch // that gather their members, by ID
}

func (o Options) isPrivate(text string) bool { return o.Private != nil && o.Private(text) }

// New returns a Pool. The caller must close it.
func New(o Options) *Pool {
	if o.Grace <= 0 {
		o.Grace = runner.DefaultGrace
	}
	return &Pool{o: o, cold: make(chan struct{}, inContainers), groups: map[string]*group{}, batches: map[string]*batch{}}
}

// group is the workers with the same image, mounts and settings.
type group struct {
	program  runner.Worker
	spec     runner.Spec // of a worker
	max      int         // limit of workers at a time
	starting *start
	workers  []*worker
	failures []time.Time // the times of the latest failures, in order
	started  int         // how many workers were started, for their names
}

// start is the start of a worker.
type start struct {
	done   chan struct{} // closed when it has succeeded or failed
	failed bool          // set before done is closed
}

// failed records that a worker could not be started, or has ended unexpectedly.
func (g *group) failed() {
	g.failures = append(g.failures, time.Now())
	g.failures = g.failures[max(0, len(g.failures)-maxFailures):]
}

// givenUp reports whether the group starts no more workers for now.
func (g *group) givenUp() bool {
	return len(g.failures) == maxFailures && time.Since(g.failures[0]) < failuresCount
}

// Resolve implements runner.Runner.
func (p *Pool) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return p.o.Runner.Resolve(ctx, reference)
}

// Run implements runner.Runner. A query whose worker ends unexpectedly is repeated in a
// container of its own; an action is not.
func (p *Pool) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Worker == nil || s.Settings.Workers == runner.NoWorkers || ctx.Err() != nil {
		return p.o.Runner.Run(ctx, s)
	}
	g, err := p.group(s)
	if err != nil {
		return runner.Result{}, err
	}
	if s.Batch != nil && s.Kind == runner.Action {
		return p.runMember(ctx, g, s)
	}
	res, err := runner.Result{}, errDraining
	for errors.Is(err, errDraining) {
		w := p.take(ctx, g)
		if w == nil {
			return p.runCold(ctx, s)
		}
		res, err = w.do(ctx, s)
	}
	if died, ok := errors.AsType[*runner.WorkerError](err); ok && s.Kind == runner.Query && ctx.Err() == nil {
		if s.Stderr != nil {
			_, _ = fmt.Fprintf(s.Stderr, "%s. Trying again in a container of its own.\n", died.Reason) // a log line may be lost
		}
		return p.runCold(ctx, s)
	}
	return res, err
}

// runCold runs an invocation with a Worker in a container of its own. It limits how
// many do so concurrently, since callers send many invocations to workers at a time.
func (p *Pool) runCold(ctx context.Context, s runner.Spec) (runner.Result, error) {
	select {
	case p.cold <- struct{}{}:
		defer func() { <-p.cold }()
	case <-ctx.Done(): // the Runner returns the error
	}
	return p.o.Runner.Run(ctx, s)
}

// group returns the group that carries out an invocation.
func (p *Pool) group(s runner.Spec) (*group, error) {
	p.mu.Lock()
	latest := p.latest
	p.mu.Unlock()
	if latest != nil && latest.matches(s) {
		return latest, nil
	}
	key, err := s.GroupKey(s.Worker)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.groups[key]
	if g == nil {
		g = &group{program: *s.Worker, spec: runner.Spec{Kind: runner.Action, Digest: s.Worker.Digest, Reference: s.Reference,
			Entrypoint: s.Worker.Entrypoint, Args: s.Worker.Args,
			Mounts: s.Mounts, Settings: s.Settings, KeepLog: s.KeepLog,
			Keep: p.o.Keep && !p.o.isPrivate(key)}, max: max(p.o.Max, 1)}
		switch {
		case s.Settings.Workers > 0:
			g.max = int(s.Settings.Workers)
		case s.Settings.WholeMachine: // a second one would wait for the same locks, and find out again what the first one knows
			g.max = 1
		}
		p.groups[key] = g
	}
	p.latest = g
	return g, nil
}

// matches reports whether an invocation certainly belongs to this group.
func (g *group) matches(s runner.Spec) bool {
	return g.program.Digest == s.Worker.Digest && g.program.Entrypoint == s.Worker.Entrypoint && slices.Equal(g.program.Args,
		s.Worker.Args) && slices.Equal(g.spec.Mounts, s.Mounts) && reflect.DeepEqual(g.spec.Settings, s.Settings)
}

// take returns a worker that accepts requests, and starts one if there is none. It
// returns nil if the group starts no more workers, or if the start failed or ctx has
// ended: a run in a container of its own then returns the error.
func (p *Pool) take(ctx context.Context, g *group) *worker {
	for {
		p.mu.Lock()
		if p.closed || g.givenUp() {
			p.mu.Unlock()
			return nil
		}
		best := g.best()
		var starting *start
		if best == nil || len(g.workers) < g.max && best.slow() {
			starting = p.start(ctx, g)
		}
		p.mu.Unlock()
		if best != nil {
			return best
		}
		select {
		case <-starting.done:
			if starting.failed {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// best returns the worker with the fewest open requests; nil = none accepts any.
func (g *group) best() (best *worker) {
	for _, w := range g.workers {
		if n, ok := w.load(); ok && (best == nil || n < best.lastLoad) {
			w.lastLoad, best = n, w
		}
	}
	return best
}

// start starts a worker in the background, unless one is being started.
func (p *Pool) start(ctx context.Context, g *group) *start {
	if g.starting != nil {
		return g.starting
	}
	s := &start{done: make(chan struct{})}
	g.starting = s
	g.started++
	spec := g.spec
	spec.Name = fmt.Sprintf("worker %d of %s", g.started, spec.Digest)
	go func() {
		// Other invocations, whose context has not ended, may use the worker too.
		w, err := launch(context.WithoutCancel(ctx), p.o.Launcher, spec, p.o)
		defer close(s.done)
		p.mu.Lock()
		defer p.mu.Unlock()
		g.starting = nil
		if err != nil {
			s.failed = true
			g.failed()
			return
		}
		// This happens also while the Pool is being closed: Close waits for the start.
		g.workers = append(g.workers, w)
		go p.remove(g, w)
	}()
	return s
}

// remove removes a worker from its group when the worker has ended.
func (p *Pool) remove(g *group, w *worker) {
	<-w.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	g.workers = slices.DeleteFunc(slices.Clone(g.workers), func(other *worker) bool { return other == w })
	if !p.closed {
		g.failed()
	}
}

// Close keeps or ends all workers, and returns when the containers of the ended ones
// are removed. Open invocations end first.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var starting []chan struct{}
	for _, g := range p.groups {
		if g.starting != nil {
			starting = append(starting, g.starting.done)
		}
	}
	p.mu.Unlock()
	for _, c := range starting {
		<-c
	}
	p.mu.Lock()
	var all []*worker
	for _, g := range p.groups {
		all = append(all, g.workers...)
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			if !w.keep() {
				w.end()
			}
		})
	}
	wg.Wait()
}
