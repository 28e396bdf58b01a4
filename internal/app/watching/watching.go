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

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/sdnotify"
	"deployster/internal/runner/typeclient"
	"deployster/internal/runner/watchclient"
	"deployster/internal/ui/events"
	"deployster/internal/watch"
	"deployster/internal/watch/metrics"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/repair"
	"deployster/state/actions"
)

// Options say what is watched, and what may be done about it.
type Options struct {
	app.SourceOptions
	Approve     string         // kinds of change with commas between, or "none"
	Poll        *time.Duration // for resources that say nothing; nil = by their kind
	Parallelism int            // looks at one time that start a container
	Baseline    drift.Baseline
	Converged   time.Duration
	MaxRuntime  time.Duration
	Metrics     string // where they are served: host:port, or unix:PATH; "" = nowhere
	Verbose     bool

	Reload <-chan struct{}                       // read everything anew; nil = nobody asks for that
	Record func() Recording                      // begins the records of a repair, or of what failed
	Print  func(format string, args ...any)      // a line for people
	Show   func(line func() string) (end func()) // keeps a line at the bottom of a terminal
}

// Status is what happened to the watch as a whole.
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
)

// watcher is one watch.
type watcher struct {
	Options
	engine  app.Keeper // of looks
	kinds   []plan.Change
	looks   *failures
	told    *watchclient.Client // of changes
	systemd sdnotify.Notifier
	metrics *metrics.Metrics

	again  chan struct{} // the state is another: read anew
	renews chan struct{} // a repair has applied something else than was recorded

	stateMu sync.Mutex // held by a repair, which changes the state
	mark    string     // of the state as it is known; this and what follows are guarded by stateMu
	looked  time.Time  // when its mark was asked for last
	letGo   time.Time  // when a repair ended
	read    time.Time  // when all was read

	applying atomic.Bool // the manifests are applied, which is not to be cut short

	printing sync.Mutex // keeps lines whole

	mu      sync.Mutex // guards what follows; nothing is printed while it is held: the terminal asks for its last line
	current *generation
	counts  watch.Counts
	repairs []string          // what is being repaired
	holder  string            // who has the state, while a repair waits for it
	knows   map[string]bool   // what is in the baseline, and was told
	reasons map[string]string // why resources may not be repaired, as the last repair found
}

// Run watches until ctx ends, or what the options say.
func Run(ctx context.Context, e *app.Engine, o Options) (watch.End, watch.Counts, error) {
	kinds, err := approved(o.Approve)
	if err != nil {
		return "", watch.Counts{}, err
	}
	w := &watcher{Options: o, kinds: kinds, again: make(chan struct{}, 1), renews: make(chan struct{}, 1), knows: map[string]bool{},
		reasons: map[string]string{}, looks: &failures{record: o.Record}, metrics: metrics.New()}
	w.Whole = slices.ContainsFunc(kinds, func(k plan.Change) bool { return k != repair.Kind })
	w.systemd = sdnotify.New(e.Env("NOTIFY_SOCKET"))
	defer w.looks.end()
	served, err := w.serve(ctx, e)
	if err != nil {
		return "", watch.Counts{}, err
	}
	defer served()
	if _, err := e.Runtime(ctx); err != nil {
		return "", watch.Counts{}, err
	}
	w.engine = app.Keeper{Engine: e}.Child(func(event events.Event) {
		if event.Level != events.Debug || w.Verbose {
			e.Events(event) // else each look would be told
		}
	}, w.looks)
	if w.told, err = app.NewWatchClient(ctx, w.engine.Engine); err != nil {
		return "", watch.Counts{}, err
	}
	defer w.told.Close() // before the engine is
	first, err := w.load(ctx)
	if err != nil {
		return "", watch.Counts{}, err
	}
	lock, err := alone(first)
	if err != nil {
		return "", watch.Counts{}, err
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process anyway
	end, counts := w.run(ctx, first)
	w.status(Stopping, "stopping: "+string(end), "")
	return end, counts, nil
}

// serve serves metrics, until end is called.
func (w *watcher) serve(ctx context.Context, e *app.Engine) (end func(), err error) {
	if w.Metrics == "" {
		return func() {}, nil
	}
	at := w.Metrics
	if path, local := strings.CutPrefix(at, "unix:"); local {
		at = "unix:" + e.Path(path)
	}
	l, err := metrics.Listen(ctx, at)
	if err != nil {
		return nil, diag.Errorf("Cannot serve metrics", "-metrics takes host:port, such as 127.0.0.1:9464, or unix:PATH: %s.",
			diag.Visible(err.Error()))
	}
	return w.metrics.Serve(l), nil
}

// alone keeps other watchers from the state.
func alone(g *generation) (*durable.Lock, error) {
	path := g.source.Place.String()
	if !filepath.IsAbs(path) {
		return &durable.Lock{}, nil // it lies in a service
	}
	lock, err := durable.TryLock(path+".watch.lock", true, actions.WatchCommand)
	if locked, ok := errors.AsType[*durable.LockedError](err); ok {
		who := "another process"
		if locked.Holder != nil {
			who = diag.Visible(locked.Holder.String())
		}
		return nil, diag.Errorf("The state is watched already", "%s is watched by %s. One is enough: end it first.", path, who)
	} else if err != nil {
		return nil, diag.Errorf("Cannot lock the state for watching", "%s.", err)
	}
	return lock, nil
}

// run watches one generation after the other.
func (w *watcher) run(ctx context.Context, first *generation) (watch.End, watch.Counts) {
	generations := make(chan watch.Generation, 1)
	w.take(first)
	generations <- first.Generation
	defer w.Show(w.bottom)()
	reloads, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() { w.reloadLoop(reloads, generations) })
	end, counts := watch.Run(ctx, watch.Options{Converged: w.Converged, MaxRuntime: w.MaxRuntime, Slept: slept, Alive: w.alive,
		Counted: w.count, Busy: w.applying.Load}, generations, w.tell)
	stop()
	ended.Wait()
	if w.count(counts); end == watch.Converged {
		w.status(Converged, "converged: nothing was to be done for "+w.Converged.String(), "")
	}
	return end, counts
}

// brokenFor is how long it takes until what could not be read is read again unasked.
const brokenFor = time.Minute

// reloadLoop reads everything anew when that is asked for, and when somebody else has
// changed the state. What is broken leaves the generation that is watched.
func (w *watcher) reloadLoop(ctx context.Context, generations chan<- watch.Generation) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var failed time.Time
	aged := time.Now()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-w.Reload:
			asked = true
		case <-w.again:
		case <-w.renews:
			w.give(ctx, w.renewed(), generations)
			continue
		case <-tick.C:
			w.forget(&aged)
			if time.Since(failed) < brokenFor || !w.changedElsewhere() {
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
			failed = time.Now()
			w.applying.Store(false)
			w.metrics.ReloadFailed()
			w.engine.Diagnostics(diag.From("Cannot read anew", err))
			w.status(ReloadFailed, "could not be read anew: what was watched before is watched further", "")
			continue
		}
		w.give(ctx, next, generations)
		w.applying.Store(false)
	}
}

// give has a generation watched.
func (w *watcher) give(ctx context.Context, g *generation, generations chan<- watch.Generation) {
	w.take(g)
	select {
	case generations <- g.Generation:
	case <-ctx.Done():
	}
}

// forget forgets each day the secrets that are none any more.
func (w *watcher) forget(last *time.Time) {
	if time.Since(*last) < oneDay || !w.stateMu.TryLock() {
		return // a repair goes on, which may have learned of some before
	}
	defer w.stateMu.Unlock()
	*last = time.Now()
	w.mu.Lock()
	prior := w.current.look.prior
	w.mu.Unlock()
	w.engine.Forget(prior)
}

// reload reads everything anew. Where that is wanted the manifests are applied before,
// as far as they are approved: what is watched then is how it is after that.
func (w *watcher) reload(ctx context.Context, whole bool) (*generation, error) {
	for {
		next, err := w.load(ctx)
		if err != nil || !whole {
			return next, err
		}
		_, err = (&repairer{w: w, look: next.look, source: next.source, whole: true}).Repair(ctx, nil)
		switch {
		case errors.Is(err, watch.ErrElsewhere):
			continue // a repair came in between, or another command
		case err != nil && ctx.Err() == nil:
			w.engine.Diagnostics(diag.From("Cannot apply the manifests", err))
			w.line("the manifests could not be applied: what can be watched is watched")
		}
		whole = false
	}
}

// approved reads what may be done unattended.
func approved(text string) ([]plan.Change, error) {
	if text == "none" {
		return nil, nil
	}
	known := []string{string(repair.Kind), string(plan.Create), string(plan.Update), string(plan.Replace), string(plan.Destroy),
		string(plan.Forget), string(plan.Deferred)}
	var kinds []plan.Change
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, word) {
			return nil, diag.Errorf("Wrong command line", "-approve takes none, or kinds of change with commas between: %s. %q is none of them.",
				strings.Join(known, ", "), diag.Visible(word))
		}
		kinds = append(kinds, plan.Change(word))
	}
	return kinds, nil
}

// failures keeps the records of looks that failed: in a run that begins anew each day.
type failures struct {
	record func() Recording

	mu    sync.Mutex
	run   *Recording
	since time.Time
	bytes int
}

// What one run of failed looks holds.
const (
	oneDay = 24 * time.Hour
	oneRun = 16 << 20
)

func (f *failures) Begin()        {}
func (f *failures) Report([]byte) {}

func (f *failures) Add(i typeclient.Invocation) {
	if i.Err == nil && i.Result.ExitCode == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil && (time.Since(f.since) > oneDay || f.bytes > oneRun) {
		f.run.End(apply.OK)
		f.run = nil
	}
	if f.run == nil {
		r := f.record()
		f.run, f.since, f.bytes = &r, time.Now(), 0
	}
	f.bytes += len(i.Stdin) + len(i.Result.Stdout) + len(i.Result.Stderr)
	f.run.Records.Add(i)
}

func (f *failures) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.run != nil {
		f.run.End(apply.OK)
		f.run = nil
	}
}
