package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"deployster/containerd/lending"
	"deployster/internal/runtime/runner"
)

const (
	// patience is how long an invocation waits for a container that others use before another
	// one is started, if starting takes no longer: by then it has waited as long as for a
	// container of its own.
	patience   = 50 * time.Millisecond
	startTakes = 100 * time.Millisecond // until it is known how long a start takes

	// For this many invocations of a few milliseconds each, another container is worth its start.
	worthStart = 40

	maxShared = 64 // containers of one group at a time
	maxLost   = 3  // lost containers of a group after which it is not used any more
)

// sharedContainers has the running containers of a Runtime that invocations share. The zero
// value is ready.
type sharedContainers struct {
	mu     sync.Mutex
	groups map[string]*sharedGroup

	agent string // path of the agent's program; "" = there is none, and nothing is shared
}

// sharedGroup lends containers that can replace each other: those with the same image, mounts and settings.
type sharedGroup = lending.Lender[*sharedContainer]

// group returns the group of the containers that could run an invocation.
func (h *sharedContainers) group(r *Runtime, s runner.Spec) (*sharedGroup, error) {
	key, err := s.GroupKey([]any{s.Digest, s.ReuseActions, s.Sharers()})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups == nil {
		h.groups = map[string]*sharedGroup{}
	}
	if h.groups[key] == nil {
		h.groups[key] = lending.New[*sharedContainer](lending.Terms{Most: maxShared, Processors: runtime.NumCPU(), Losses: maxLost,
			Takes: startTakes, Patience: patience, Coming: s.Expected, Worth: worthStart, Go: r.runsOpen.Go})
	}
	return h.groups[key], nil
}

// mayShare reports whether an invocation may run in a container that others use too. One that has the
// whole machine may not: what it leaves must end with it, and ends with its container.
func (r *Runtime) mayShare(s runner.Spec) bool {
	// Only root may send signals into containers, and pass on pipes.
	return r.shared.agent != "" && os.Geteuid() == 0 && s.Reuse && (s.Kind == runner.Query || mayShareAction(s)) &&
		s.Settings.Workers != runner.NoWorkers &&
		!s.Settings.WholeMachine && !s.Confidential && s.Cwd == "" && !s.LogStdout && s.Answer == nil && len(s.Volumes) == 0
}

// mayShareAction reports whether an action may run in a container that others use too. One without an ID may
// not: its container is removed with its client. A guarded one may not: it can be ended with its container alone.
func mayShareAction(s runner.Spec) bool {
	return s.ReuseActions && s.ID != "" && s.Guard == "" && !s.ListWrites
}

// runShared runs an invocation in a shared container. done is false if that is impossible, and for an action only if
// its program was certainly not begun: then it runs in a container of its own, which shows the reason.
func (r *Runtime) runShared(ctx context.Context, s runner.Spec) (res runner.Result, done bool, err error) {
	g, err := r.shared.group(r, s)
	if err != nil {
		return res, false, nil
	}
	w := r.takeShared(ctx, g, s)
	if w == nil {
		return res, false, nil
	}
	exec := w.exec
	if s.Kind == runner.Action {
		exec = w.act
	}
	res, done, err = exec(ctx, s)
	// An action that has failed may have left something that the next one would find.
	failed := s.Kind == runner.Action && done && res.ExitCode != 0
	if !w.killed.Load() && !failed && (err == nil && done || errors.Is(err, errRefused)) {
		g.Return(w)
		return res, done, nil
	}
	if r.discard(g, w, !done); done {
		return res, true, err
	}
	if s.Stderr != nil && ctx.Err() == nil {
		_, _ = fmt.Fprintln(s.Stderr,
			"The container that it shared was lost. Trying again in a container of its own.") // a watcher misses one line at most
	}
	return runner.Result{}, false, nil
}

// takeShared returns a container that nobody else uses until it is returned or discarded. nil = sharing is impossible.
func (r *Runtime) takeShared(ctx context.Context, g *sharedGroup, s runner.Spec) *sharedContainer {
	fit, ok := r.sandboxes.Shows(s)
	if !ok {
		return nil
	}
	for ctx.Err() == nil {
		w, ok := g.Borrow(ctx, func(keptOnly bool) (*sharedContainer, bool, error) { return r.startShared(ctx, s, keptOnly) })
		switch {
		case !ok:
			return nil
		case ctx.Err() != nil:
			g.Return(w)
		case w.shows == fit && w.waits():
			return w
		default:
			r.discard(g, w, false)
		}
	}
	return nil
}

// startShared starts another container for a group, or takes one that an earlier command has left. Others may use it,
// so it does so after the end of the context too, until this Runtime is closed.
func (r *Runtime) startShared(ctx context.Context, s runner.Spec, keptOnly bool) (w *sharedContainer, kept bool, err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-r.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	image, err := r.Images.PrepareFor(r.conn.Context(ctx), s)
	if err != nil {
		return nil, false, err
	}
	return r.newShared(ctx, s, image, keptOnly)
}

// discard removes a container in the background. lost: it has failed.
func (r *Runtime) discard(g *sharedGroup, w *sharedContainer, lost bool) {
	g.Drop(lost)
	r.runsOpen.Go(func() { _ = w.end() }) // if it fails, it is swept: see remove
}

// closeIdle removes all shared containers. It is called when no program runs in them any
// more.
func (r *Runtime) closeIdle() error {
	r.shared.mu.Lock()
	groups := r.shared.groups
	r.shared.groups = nil
	r.shared.mu.Unlock()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, g := range groups {
		for _, w := range g.Take() {
			wg.Go(func() {
				var err error
				if !w.putIdle() {
					err = w.end()
				}
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			})
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}
