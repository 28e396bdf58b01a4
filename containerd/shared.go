package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
)

const (
	// growAfter is how long an invocation waits for a container that others use before another
	// one is started, if starting takes no longer: by then it has waited as long as for a
	// container of its own.
	growAfter = 50 * time.Millisecond

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

// sharedGroup is a set of containers that can replace each other: those with the same
// image, mounts and settings.
type sharedGroup struct {
	idle chan *sharedContainer

	mu       sync.Mutex
	count    int // running or being started
	starting bool
	started  time.Time     // when the last start succeeded or failed
	took     time.Duration // how long that start took
	lost     int
}

// group returns the group of the containers that could run an invocation.
func (h *sharedContainers) group(s runner.Spec) (*sharedGroup, error) {
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
		h.groups[key] = &sharedGroup{idle: make(chan *sharedContainer, maxShared)}
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
	g, err := r.shared.group(s)
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
		g.idle <- w
		return res, done, nil
	}
	r.discard(g, w)
	if done {
		return res, true, err
	}
	g.mu.Lock()
	g.lost++
	g.mu.Unlock()
	if s.Stderr != nil && ctx.Err() == nil {
		_, _ = fmt.Fprintln(s.Stderr,
			"The container that it shared was lost. Trying again in a container of its own.") // a watcher misses one line at most
	}
	return runner.Result{}, false, nil
}

// takeShared returns an idle container, and starts one if there is none or all have been
// busy for long. nil = sharing is impossible.
func (r *Runtime) takeShared(ctx context.Context, g *sharedGroup, s runner.Spec) *sharedContainer {
	fit, ok := r.sandboxes.Shows(s)
	if !ok {
		return nil
	}
	tick := time.NewTicker(growAfter)
	defer tick.Stop()
	for asked := time.Now(); ctx.Err() == nil; {
		var w *sharedContainer
		select {
		case w = <-g.idle:
		default:
			switch g.wants(time.Since(asked)) {
			case startOne:
				return r.startShared(ctx, g, s)
			case giveUp:
				return nil
			}
			select {
			case w = <-g.idle:
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		switch {
		case w == nil:
		case w.shows == fit && w.waits():
			return w
		default:
			r.discard(g, w)
		}
	}
	return nil
}

// startShared starts another container for a group. nil = the start failed.
func (r *Runtime) startShared(ctx context.Context, g *sharedGroup, s runner.Spec) *sharedContainer {
	start := time.Now()
	image, err := r.Images.PrepareFor(r.conn.Context(ctx), s)
	var w *sharedContainer
	if err == nil {
		w, err = r.newShared(ctx, s, image)
	}
	if g.came(time.Since(start), err); err != nil {
		return nil
	}
	return w
}

// demand is what an invocation must do if no container of its group is idle.
type demand int

const (
	waitOn demand = iota
	startOne
	giveUp
)

func (g *sharedGroup) wants(waited time.Duration) demand {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.lost >= maxLost:
		return giveUp
	case g.starting, g.count >= maxShared:
		return waitOn
	case g.count == 0, min(waited, time.Since(g.started)) >= max(growAfter, g.took):
		g.starting = true
		g.count++
		return startOne
	}
	return waitOn
}

// came records that starting a container succeeded or failed.
func (g *sharedGroup) came(took time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.starting, g.started, g.took = false, time.Now(), took
	if err != nil {
		g.count--
		g.lost++
	}
}

// discard removes a container in the background.
func (r *Runtime) discard(g *sharedGroup, w *sharedContainer) {
	g.mu.Lock()
	g.count--
	g.mu.Unlock()
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
		close(g.idle)
		for w := range g.idle {
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
