package watchclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"deployster/internal/runner"
)

// How long a process for many is not started again after it has ended: less than
// who asks again for a resource waits.
const (
	holdFirst = 800 * time.Millisecond
	holdMost  = 4 * time.Minute
	wellAfter = 5 * time.Minute // what has run that long has not failed again
)

// group is the resources that one process can watch.
type group struct {
	c    *Client
	spec runner.Spec

	mu       sync.Mutex
	now      *worker       // takes requests; nil = there is none
	starting chan struct{} // closed when one is there, or could not be
	failures int           // in a row
	held     time.Time     // until then none is started
	last     error         // why the last one ended
}

// watch watches one resource.
func (g *group) watch(ctx context.Context, r *Request, tell func(Event)) error {
	for {
		w, err := g.worker(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return failure(r, err)
		}
		err = w.watch(ctx, r, tell)
		if !errors.Is(err, errClosing) {
			return err
		}
	}
}

// worker returns the process, and starts it when there is none.
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

// start starts a process. The lock is held.
func (g *group) start(ctx context.Context) {
	starting := make(chan struct{})
	g.starting, g.now = starting, nil
	go func() {
		w := &worker{c: g.c, open: map[int64]*request{}}
		w.began = time.Now()
		p, err := g.c.launch(context.WithoutCancel(ctx), g.spec, w, maxReply) // others may want it too
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

// forget takes a process away that has ended.
func (g *group) forget(w *worker) {
	<-w.gone
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noteEnd(w)
}

// noteEnd notes once how a process ended: who is told first of the end, and asks
// again, is not to start another at once. The lock is held.
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

// hold notes a failure. The lock is held.
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
