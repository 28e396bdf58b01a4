package watchclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
)

// The pauses before a group starts its process again after it has ended: shorter than
// the pause before the caller of Watch tries again.
const (
	holdFirst = 800 * time.Millisecond
	holdMost  = 4 * time.Minute
	wellAfter = 5 * time.Minute // a process that ran for so long resets the count of failures
)

// group is the set of resources that one process can watch.
type group struct {
	c    *Client
	spec runner.Spec

	mu       sync.Mutex
	now      *worker       // the process that accepts requests; nil = there is none
	starting chan struct{} // closed when the start has succeeded or failed
	failures int           // in a row
	held     time.Time     // no process is started before this time
	last     error         // why the last process ended
}

// watch watches one resource.
func (g *group) watch(ctx context.Context, r *Request, report func(Event)) error {
	w, q, err := g.begin(ctx, r, report)
	if err != nil {
		return err
	}
	return w.wait(ctx, q) // r is not needed any more
}

// begin has a process watch one resource.
func (g *group) begin(ctx context.Context, r *Request, report func(Event)) (*worker, *request, error) {
	for {
		w, err := g.worker(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			return nil, nil, g.c.failure(r.subject(), err)
		}
		q, err := w.begin(ctx, r, report)
		if !errors.Is(err, errClosing) {
			return w, q, err
		}
	}
}

// worker returns the process, and starts it if there is none.
func (g *group) worker(ctx context.Context) (*worker, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if g.now != nil {
			select {
			case <-g.now.gone:
				g.noteEnd(g.now)
			default:
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case g.now != nil && g.now.takes():
			return g.now, nil
		case g.starting == nil && time.Now().Before(g.held):
			return nil, g.last
		case g.starting == nil:
			g.start(ctx)
		}
		starting := g.starting
		g.mu.Unlock()
		select {
		case <-starting:
		case <-ctx.Done():
		}
		g.mu.Lock()
	}
}

// start starts a process. The caller must hold the lock.
func (g *group) start(ctx context.Context) {
	starting := make(chan struct{})
	g.starting, g.now = starting, nil
	go func() {
		w := &worker{c: g.c, open: map[int64]*request{}}
		w.began = time.Now()
		p, err := g.c.launch(context.WithoutCancel(ctx), g.spec, w, maxReply) // others may use the process too
		w.program = p
		g.mu.Lock()
		defer g.mu.Unlock()
		defer close(starting)
		g.starting = nil
		if err != nil {
			g.hold(w.began, &endError{err: err})
			return
		}
		g.now = w
		go g.forget(w)
	}()
}

// forget removes a process from the group when it has ended.
func (g *group) forget(w *worker) {
	<-w.gone
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noteEnd(w)
}

// noteEnd records once how a process ended: the caller that learns of the end first and
// calls again must not start another process at once. The caller must hold the lock.
func (g *group) noteEnd(w *worker) {
	if w.noted {
		return
	}
	w.noted = true
	if g.now == w {
		g.now = nil
	}
	if why := w.reason(); !errors.Is(why, context.Canceled) {
		g.hold(w.began, w.ended())
	}
}

// hold records a failure and delays the next start. The caller must hold the lock.
func (g *group) hold(began time.Time, why error) {
	if time.Since(began) > wellAfter {
		g.failures = 0
	}
	pause := holdFirst << min(g.failures, 16)
	g.failures, g.held, g.last = g.failures+1, time.Now().Add(min(pause, holdMost)), why
}

// close ends the process.
func (g *group) close() {
	g.mu.Lock()
	starting := g.starting
	g.mu.Unlock()
	if starting != nil {
		<-starting
	}
	g.mu.Lock()
	w := g.now
	g.mu.Unlock()
	if w != nil {
		w.close()
		w.stop()
	}
}
