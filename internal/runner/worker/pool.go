package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"deployster/internal/runner"
)

const (
	// maxDeaths is how many workers of a kind may end before their time. After
	// that each invocation gets its own container.
	maxDeaths = 3
)

// Options are what is constant for a Pool.
type Options struct {
	Runner   runner.Runner   // of what no worker can do
	Launcher runner.Launcher // starts the workers
	Max      int             // workers with the same image, mounts and settings, where the settings do not say

	// Grace is what a worker gets to end after its stdin has; 0 =
	// runner.DefaultGrace.
	Grace time.Duration

	// Keep: what an earlier command has kept is used, and kept again when the
	// Pool is closed. Private reports whether a text has something in it that no
	// program may know any longer than this command takes; nil = nothing has.
	Keep    bool
	Private func(text string) bool
}

// Pool is an runner.Runner that uses workers where it can. Workers are started
// when they are first needed, and end when the Pool is closed.
type Pool struct {
	o Options

	mu     sync.Mutex
	groups map[string]*group
	latest *group // that was asked for; mostly it is the next one too
	closed bool
}

func (p *Pool) private(text string) bool { return p.o.Private != nil && p.o.Private(text) }

// New makes a Pool. It must be closed.
func New(o Options) *Pool {
	if o.Grace <= 0 {
		o.Grace = runner.DefaultGrace
	}
	return &Pool{o: o, groups: map[string]*group{}}
}

// group is the workers that can take each other's place.
type group struct {
	wanted   runner.Worker
	spec     runner.Spec // of a worker
	max      int         // workers at one time
	starting chan struct{}
	workers  []*worker
	deaths   int
	started  int // workers so far, for their names
}

// Resolve implements runner.Runner.
func (p *Pool) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return p.o.Runner.Resolve(ctx, reference)
}

// Run implements runner.Runner. A query whose worker dies is asked again in a
// container of its own; an action is not.
func (p *Pool) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Worker == nil || s.Settings.Workers == runner.NoWorkers || ctx.Err() != nil {
		return p.o.Runner.Run(ctx, s)
	}
	g, err := p.group(s)
	if err != nil {
		return runner.Result{}, err
	}
	res, err := runner.Result{}, errDoomed
	for errors.Is(err, errDoomed) {
		w := p.take(ctx, g)
		if w == nil {
			return p.o.Runner.Run(ctx, s)
		}
		res, err = w.do(ctx, s)
	}
	var died *runner.WorkerError
	if errors.As(err, &died) && s.Kind == runner.Query && ctx.Err() == nil {
		if s.Stderr != nil {
			_, _ = fmt.Fprintf(s.Stderr, "%s. It is asked again in a container of its own.\n", died.Reason) // who watches misses a line at most
		}
		return p.o.Runner.Run(ctx, s)
	}
	return res, err
}

// group finds those that could carry out an invocation.
func (p *Pool) group(s runner.Spec) (*group, error) {
	p.mu.Lock()
	latest := p.latest
	p.mu.Unlock()
	if latest != nil && latest.carriesOut(s) {
		return latest, nil
	}
	key, err := json.Marshal(struct {
		Worker   *runner.Worker
		Mounts   []runner.Mount
		Settings runner.Settings
	}{s.Worker, s.Mounts, s.Settings})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.groups[string(key)]
	if g == nil {
		g = &group{wanted: *s.Worker, spec: runner.Spec{Kind: runner.Action, Digest: s.Worker.Digest, Entrypoint: s.Worker.Entrypoint, Args: s.Worker.Args,
			Mounts: s.Mounts, Settings: s.Settings, KeepLog: s.KeepLog,
			Keep: p.o.Keep && !p.private(string(key))}, max: max(p.o.Max, 1)}
		if s.Settings.Workers > 0 {
			g.max = int(s.Settings.Workers)
		}
		p.groups[string(key)] = g
	}
	p.latest = g
	return g, nil
}

// carriesOut reports whether an invocation is surely for its workers.
func (g *group) carriesOut(s runner.Spec) bool {
	return g.wanted.Digest == s.Worker.Digest && g.wanted.Entrypoint == s.Worker.Entrypoint && slices.Equal(g.wanted.Args, s.Worker.Args) &&
		slices.Equal(g.spec.Mounts, s.Mounts) && reflect.DeepEqual(g.spec.Settings, s.Settings)
}

// take gives a worker that has a place, and starts one when there is none. It
// gives nil when there can be none.
func (p *Pool) take(ctx context.Context, g *group) *worker {
	for {
		p.mu.Lock()
		if p.closed || g.deaths >= maxDeaths {
			p.mu.Unlock()
			return nil
		}
		best := g.best()
		var starting chan struct{}
		if best == nil || len(g.workers) < g.max && best.slow() {
			starting = p.start(ctx, g)
		}
		p.mu.Unlock()
		if best != nil {
			return best
		}
		select {
		case <-starting:
		case <-ctx.Done():
			return nil
		}
	}
}

// best is the living worker with the fewest open invocations, one of which is
// now the caller's.
func (g *group) best() (best *worker) {
	for _, w := range g.workers {
		if n, ok := w.load(); ok && (best == nil || n < best.lastLoad) {
			w.lastLoad, best = n, w
		}
	}
	return best
}

// start begins to start a worker, unless one is being started, and gives what
// is closed when it is there, or is known not to come.
func (p *Pool) start(ctx context.Context, g *group) chan struct{} {
	if g.starting != nil {
		return g.starting
	}
	done := make(chan struct{})
	g.starting = done
	g.started++
	spec := g.spec
	spec.Name = fmt.Sprintf("worker %d of %s", g.started, spec.Digest)
	go func() {
		// It is for others too, who may not have been interrupted.
		w, err := launch(context.WithoutCancel(ctx), p.o.Launcher, spec, p.o.Grace, p.private)
		defer close(done)
		p.mu.Lock()
		defer p.mu.Unlock()
		g.starting = nil
		if err != nil {
			g.deaths = maxDeaths // a container of its own will tell why
			return
		}
		// Also one that comes too late for a Pool that is being closed: Close
		// waits for it.
		g.workers = append(g.workers, w)
		go p.bury(g, w)
	}()
	return done
}

// bury takes a worker out of its group when it has ended.
func (p *Pool) bury(g *group, w *worker) {
	<-w.dead
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range g.workers {
		if other == w {
			g.workers = append(g.workers[:i:i], g.workers[i+1:]...)
			break
		}
	}
	if !p.closed {
		g.deaths++
	}
}

// Close ends all workers that are not kept, and returns when nothing of them is left. Invocations
// that are open then end first.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var starting []chan struct{}
	for _, g := range p.groups {
		if g.starting != nil {
			starting = append(starting, g.starting)
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
