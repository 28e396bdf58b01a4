package watching

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deployster/internal/app"
	"deployster/internal/app/notifying"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/app/watch/metrics"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/repair"
	"deployster/state/actions"
)

// Options declare what is watched, and what is approved.
type Options struct {
	repairs.SourceOptions
	Follow      []string       // addresses of artifacts whose new versions are applied
	Approve     string         // kinds of change, separated by commas, or "none"
	Poll        *time.Duration // for resources without events; nil = by their kind
	Parallelism int            // how many queries that start a container run concurrently
	Baseline    drift.Baseline
	Converged   time.Duration
	MaxRuntime  time.Duration
	Metrics     string // where metrics are served: host:port, or unix:PATH; "" = nowhere
	Verbose     bool

	Reload <-chan struct{}                       // a request to read everything again; nil = there are none
	Record func() Recording                      // starts the records of a repair, or of failed queries
	Print  func(format string, args ...any)      // a line for people
	Show   func(line func() string) (end func()) // keeps a line at the bottom of a terminal
}

// Status is an event of the whole watch.
type Status string

// The statuses.
const (
	Started      Status = "started"
	Reloaded     Status = "reloaded"
	ReloadFailed Status = "reload_failed"
	Held         Status = "held"
	Released     Status = "released"
	Converged    Status = "converged"
	Unconverged  Status = "unconverged"
	Stopping     Status = "stopping"
	NewVersion   Status = "new_version"
)

// watcher is one watch.
type watcher struct {
	Options
	engine  repairs.Keeper // for queries
	kinds   []plan.Change
	looks   *failures
	told    *watchclient.Client // of the processes that report changes
	systemd systemd
	metrics *metrics.Metrics
	notes   *notifying.Outbox

	again  chan struct{} // the state has changed: read everything again
	renews chan struct{} // a repair has applied something else than was recorded

	follows chan chan struct{} // a followed artifact has a new version; what is sent is closed when it was tried

	stateMu sync.Mutex // held by a repair, which changes the state; guards mark, looked, letGo and read
	mark    string     // of the state as it is known
	looked  time.Time  // when the mark was queried last
	letGo   time.Time  // when a repair ended
	read    time.Time  // when everything was read

	loose bool // memory of the first checks of a generation is still to be released; of the goroutine that calls tell

	applying atomic.Bool // the manifests are being applied, which must not be interrupted

	printing sync.Mutex // keeps lines whole

	mu      sync.Mutex // guards the rest; nothing is printed while it is held: the terminal requests its last line
	current *generation
	counts  watch.Counts
	repairs []string          // the resources that are being repaired
	holder  string            // who holds the state while a repair waits for it
	knows   map[string]bool   // the resources whose drift in the baseline was reported
	reasons map[string]string // address -> why it may not be repaired, by the last repair
}

// Run watches until ctx ends, or an option ends the watch.
func Run(ctx context.Context, e *app.Engine, o Options) (watch.End, watch.Counts, error) {
	kinds, err := approved(o.Approve)
	if err != nil {
		return "", watch.Counts{}, err
	}
	w := &watcher{Options: o, kinds: kinds, again: make(chan struct{}, 1), renews: make(chan struct{}, 1),
		follows: make(chan chan struct{}), knows: map[string]bool{},
		reasons: map[string]string{}, looks: &failures{record: o.Record}, metrics: metrics.New()}
	if w.Selection.Follow, err = followed(o, kinds); err != nil {
		return "", watch.Counts{}, err
	}
	w.Whole = slices.ContainsFunc(kinds, func(k plan.Change) bool { return k != repair.Kind })
	w.systemd = newSystemd(e.Workspace.Env("NOTIFY_SOCKET"))
	defer w.looks.end()
	served, err := w.serve(ctx, e)
	if err != nil {
		return "", watch.Counts{}, err
	}
	defer served()
	machine, err := e.Machine(ctx)
	if err != nil {
		return "", watch.Counts{}, err
	}
	w.notes = w.newNotes(ctx, e)
	w.engine = repairs.Keeper{Command: e.Command(), Machine: machine}.Child(func(event events.Event) {
		w.notes.Offer(event)
		if event.Level != events.Debug || w.Verbose {
			e.Workspace.Events(event) // otherwise each query would be reported
		}
	}, w.looks)
	w.told = w.engine.NewWatchClient()
	defer w.told.Close() // before the engine is
	first, err := w.load(ctx)
	if err != nil {
		return "", watch.Counts{}, err
	}
	if err := w.engine.Followable(first.source, first.look.prior, w.Selection.Follow); err != nil {
		return "", watch.Counts{}, err
	}
	lock, err := alone(first)
	if err != nil {
		return "", watch.Counts{}, err
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process anyway
	end, counts := w.run(ctx, first)
	w.status(Stopping, "stopping: "+string(end), "")
	w.notes.Close(w.engine.Command.Abort)
	return end, counts, nil
}

// serve serves metrics, until end is called.
func (w *watcher) serve(ctx context.Context, e *app.Engine) (end func(), err error) {
	if w.Metrics == "" {
		return func() {}, nil
	}
	at := w.Metrics
	if path, local := strings.CutPrefix(at, "unix:"); local {
		at = "unix:" + e.Workspace.Path(path)
	}
	l, err := metrics.Listen(ctx, at)
	if err != nil {
		return nil, diag.Errorf("Cannot serve metrics", "-metrics takes host:port, such as 127.0.0.1:9464, or unix:PATH: %s.",
			diag.Visible(err.Error()))
	}
	return w.metrics.Serve(l), nil
}

// alone locks the state file against other watches.
func alone(g *generation) (*durable.Lock, error) {
	path := g.source.Place.String()
	if !filepath.IsAbs(path) {
		return &durable.Lock{}, nil // it is in a store
	}
	lock, err := durable.TryLock(path+".watch.lock", true, actions.WatchCommand)
	if locked, ok := errors.AsType[*durable.LockedError](err); ok {
		who := "another process"
		if locked.Holder != nil {
			who = diag.Visible(locked.Holder.String())
		}
		return nil, diag.Errorf("The state is watched already", "%s is watched by %s. End that first.", path, who)
	} else if err != nil {
		return nil, diag.Errorf("Cannot lock the state for watching", "%s.", err)
	}
	return lock, nil
}

// run watches one generation after another.
func (w *watcher) run(ctx context.Context, first *generation) (watch.End, watch.Counts) {
	generations := make(chan watch.Generation, 1)
	w.take(first)
	generations <- first.Generation
	defer w.Show(w.bottom)()
	reloads, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() { w.reloadLoop(reloads, generations) })
	if len(w.Selection.Follow) > 0 {
		ended.Go(func() { newFollower(w).loop(reloads) })
	}
	ended.Go(func() { (&scheduler{w: w, tries: map[string]*try{}}).loop(reloads) })
	end, counts := watch.Run(ctx, watch.Options{Converged: w.Converged, MaxRuntime: w.MaxRuntime, Slept: slept, Alive: w.alive,
		Counted: w.count, Busy: w.applying.Load}, generations, w.tell)
	stop()
	ended.Wait()
	if w.count(counts); end == watch.Converged {
		w.status(Converged, "converged: nothing was to be done for "+w.Converged.String(), "")
	}
	return end, counts
}

// brokenFor is the time after which a failed reload is tried again without a request, unless
// the state changes before: one that was moved away and put back is read at once.
const brokenFor = time.Minute

// reloadLoop reads everything again on request, and when another command has changed the
// state. If that fails the current generation stays.
func (w *watcher) reloadLoop(ctx context.Context, generations chan<- watch.Generation) {
	var failed time.Time
	var broken *string // the mark of the state at the last reload, if that failed
	aged := time.Now()
	var tried chan struct{}
	for {
		if tried != nil {
			close(tried)
			tried = nil
		}
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-w.Reload:
			asked = true
		case tried = <-w.follows:
			asked = true
		case <-w.again:
		case <-w.renews:
			w.give(ctx, w.renewed(), generations)
			continue
		case <-time.After(parallel.Aligned(time.Second)):
			w.forget(&aged)
			due := broken != nil && w.changedSince(*broken) || time.Since(failed) >= brokenFor && w.changedElsewhere()
			if !due {
				continue
			}
		}
		w.systemd.Reloading()
		w.applying.Store(asked && w.Whole)
		next, err := w.reload(ctx, asked && w.Whole)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			mark := w.markNow()
			failed, broken = time.Now(), &mark
			w.applying.Store(false)
			w.metrics.ReloadFailed()
			w.engine.Command.Work.Diagnostics(diag.From("Cannot reload", err))
			w.status(ReloadFailed, "reload failed; still watching the previous configuration", "")
			continue
		}
		failed, broken = time.Time{}, nil
		w.give(ctx, next, generations)
		w.applying.Store(false)
	}
}

// give makes a generation the watched one.
func (w *watcher) give(ctx context.Context, g *generation, generations chan<- watch.Generation) {
	w.take(g)
	select {
	case generations <- g.Generation:
	case <-ctx.Done():
	}
}

// forget forgets, once a day, the secrets that are no longer in use.
func (w *watcher) forget(last *time.Time) {
	if time.Since(*last) < oneDay || !w.stateMu.TryLock() {
		return // a repair is in progress, and may have learned some of them
	}
	defer w.stateMu.Unlock()
	*last = time.Now()
	w.mu.Lock()
	prior := w.current.look.prior
	w.mu.Unlock()
	w.engine.Forget(prior)
}

// reload reads everything again. With whole it first applies the manifests, as far as
// they are approved: the new generation has the state after that.
func (w *watcher) reload(ctx context.Context, whole bool) (*generation, error) {
	for {
		next, err := w.load(ctx)
		if err != nil || !whole {
			return next, err
		}
		_, err = (&repairer{w: w, look: next.look, source: next.source, whole: true}).Repair(ctx, nil)
		switch {
		case errors.Is(err, watch.ErrElsewhere):
			continue // a repair or another command changed the state meanwhile
		case err != nil && ctx.Err() == nil:
			w.engine.Command.Work.Diagnostics(diag.From("Cannot apply the manifests", err))
			w.line("the manifests could not be applied; watching what is recorded")
		}
		whole = false
	}
}

// approved reads the kinds of change that are approved without a question.
func approved(text string) ([]plan.Change, error) {
	if text == "none" {
		return nil, nil
	}
	known := []string{string(repair.Kind), string(plan.Create), string(plan.Update), string(plan.Replace), string(plan.Destroy),
		string(plan.Forget), string(plan.Publish), string(plan.Deferred)}
	var kinds []plan.Change
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, word) {
			return nil, diag.Errorf("Invalid flag value", "%q is not a kind of change. -approve takes none, or kinds separated by "+
				"commas: %s.",
				diag.Visible(word), strings.Join(known, ", "))
		}
		kinds = append(kinds, plan.Change(word))
	}
	return kinds, nil
}
