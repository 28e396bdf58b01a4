package watching

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/plan/drift"
	"deployster/plan/observe"
	"deployster/plan/repair"
	"deployster/state"
)

// The longest time between two queries of a resource, if no option gives another.
const (
	pollBeside = time.Hour       // next to a process that reports changes
	pollFast   = time.Minute     // where a worker or a shared container answers
	pollCold   = 5 * time.Minute // where each query starts a container
)

// hangsAfter times the timeout of its state action is how long a query may take: the action is tried again.
const hangsAfter = 6

// How many queries run concurrently in one worker.
const inWorker = 40

// generation is what was read by one reading of the manifests and the state.
type generation struct {
	watch.Generation
	source *repairs.Source
	look   *looker
	types  map[string]string // address -> type, as the manifest names it, of watched resources
	left   map[string]string // address -> why it is not watched

	unreported int // resources in clusters of types that report changes
}

// load reads the manifests and the state, and decides what is watched.
func (w *watcher) load(ctx context.Context) (*generation, error) {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	o := w.SourceOptions
	if w.current != nil {
		o.Before = w.current.source.Place
	}
	source, snapshot, err := w.engine.Source(ctx, o)
	if err != nil {
		return nil, err
	}
	if w.current != nil {
		if err := w.sameState(snapshot); err != nil {
			return nil, err
		}
	}
	g := &generation{source: source, types: map[string]string{}, left: map[string]string{}}
	g.look = &looker{w: w, source: source}
	if err := g.look.with(ctx, snapshot); err != nil {
		return nil, err
	}
	w.fill(g, snapshot)
	w.mark, w.read = source.Mark, time.Now()
	debug.FreeOSMemory() // what the start has used
	return g, nil
}

// sameState refuses a state that is missing or has another lineage than the watched one:
// the watched resources were only recorded in that.
func (w *watcher) sameState(now state.Snapshot) error {
	w.mu.Lock()
	was := w.current.look.prior.Lineage
	w.mu.Unlock()
	switch place := w.current.source.Place; {
	case was == "" || was == now.Lineage:
		return nil
	case now.Lineage == "":
		return diag.Errorf("The state is gone", "%s no longer exists. Nothing is repaired until it is back: `deployster state copies` "+
			"lists earlier ones. If that is intended, end this watch.", place)
	default:
		return diag.Errorf("The state was replaced", "%s is not the state that this watch began with: its lineage is %s, and was %s. "+
			"Nothing is repaired until it is back. To watch the new one, restart the watch.", place, now.Lineage, was)
	}
}

// fill lists the resources that are watched, and those that are not.
func (w *watcher) fill(g *generation, snapshot state.Snapshot) {
	seen := g.look.seen()
	g.Looker, g.Repairer, g.Places, g.Cold = g.look, &repairer{w: w, look: g.look, source: g.source}, map[string]int{}, w.Parallelism
	g.Source = heard{repairs.WatchSource{Client: w.told, Request: w.request}, func(addr string) { w.metrics.Event(w.typeOf(addr)) }}
	for addr, d := range seen.Skipped {
		g.left[addr] = d.Reason
	}
	for _, r := range seen.Resources {
		delete(g.left, r.Address)
		if why := seen.Changed(r); why != "" {
			g.left[r.Address] = why
			continue
		}
		entry, ty := snapshot.Resources[r.Address], seen.Type(r.Address)
		one := watch.Resource{Address: r.Address, Lane: lane(entry), Repair: len(w.kinds) > 0 && !r.Watch.TellOnly && !r.ReadOnly,
			Longest:  hangsAfter * cmp.Or(r.Timeouts.State, typeclient.DefaultStateTimeout),
			Request:  requested(r.Address, entry),
			Recorded: state.EntryHash(entry) + repair.Owed(r, entry, snapshot)}
		one.Repair = one.Repair && (ty == nil || !ty.ByPerson || r.Watch.Repair)
		one.Cold = ty == nil || ty.Worker == nil
		reports := ty != nil && ty.WatchAction != nil
		if one.Watched = reports && !entry.Settings.Host.InCluster() && !observe.NamesSecrets(entry.Config); reports && !one.Watched {
			g.unreported++
		}
		cold := ty == nil || ty.Worker == nil && !ty.Reuse
		one.Poll, one.Alone = pollBeside, pollFast
		if g.Places[one.Lane] = inWorker; cold {
			one.Alone, g.Places[one.Lane] = pollCold, w.Parallelism
		}
		for _, said := range []*time.Duration{w.Poll, r.Watch.Poll} {
			if said != nil {
				one.Poll, one.Alone = *said, *said
			}
		}
		g.Resources, g.types[r.Address] = append(g.Resources, one), entry.Type
	}
}

// requested returns a digest of the inputs of the process that watches a resource.
func requested(addr string, e state.Entry) string {
	return digest(addr, e.Digest, e.Config, e.Settings, e.Mounts)
}

// renewed returns the generation to watch after a repair has applied something else than was recorded.
func (w *watcher) renewed() *generation {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	w.mu.Lock()
	g, prior := &generation{source: w.current.source, look: w.current.look, types: map[string]string{}, left: map[string]string{}},
		w.current.look.prior
	w.mu.Unlock()
	w.fill(g, prior)
	return g
}

// heard counts events. It has no generation: processes outlive generations.
type heard struct {
	watch.Source
	count func(addr string)
}

// Watch counts each event, and passes it on.
func (h heard) Watch(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
	count := h.count
	return h.Source.Watch(ctx, addr, func(e watch.SourceEvent) {
		count(addr)
		tell(e)
	})
}

func lane(e state.Entry) string { return digest(e.Digest, e.Settings, e.Mounts) }

func digest(parts ...any) string {
	text, _ := json.Marshal(parts) // it was read from JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// looker queries single resources. The state that it compares them with can be exchanged.
type looker struct {
	w      *watcher
	source *repairs.Source

	// Guarded by w.mu.
	looker *drift.Checker
	spec   repairs.WatchSpec
	prior  state.Snapshot
	by     map[string]*config.Resource
}

// with sets the state that resources are compared with from now on.
func (l *looker) with(ctx context.Context, prior state.Snapshot) error {
	next, spec, err := l.w.engine.Checker(ctx, l.source, prior)
	if err != nil {
		return err
	}
	by := map[string]*config.Resource{}
	for _, r := range next.Resources {
		by[r.Address] = r
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.looker, l.spec, l.prior, l.by = next, spec, prior, by
	return nil
}

func (l *looker) seen() *drift.Checker {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.looker
}

// request returns how to start the process that watches a resource, by the current generation. Who calls it
// waits for months afterwards.
func (w *watcher) request(ctx context.Context, addr string) (r *watchclient.Request, err error) {
	w.mu.Lock()
	look := w.current.look
	w.mu.Unlock()
	parallel.Apart(func() { r, err = look.request(ctx, addr) })
	return r, err
}

// request returns the same by the generation of a looker.
func (l *looker) request(ctx context.Context, addr string) (*watchclient.Request, error) {
	l.w.mu.Lock()
	seen, start, r, prior := l.looker, l.spec, l.by[addr], l.prior
	l.w.mu.Unlock()
	if r == nil {
		return nil, errors.New("it is no longer recorded")
	}
	step := seen.Step(ctx, r, config.Resolved{Value: prior.Resources[addr].Config})
	target := step.Target(addr)
	if step.Init.WatchAction == nil {
		return nil, errors.New("its type no longer reports changes")
	}
	entry, of := prior.Resources[addr], step.Observed(addr)
	of.Aliases = nil // a program that watches is not informed of dependencies
	in, err := observe.Request(&of, &entry, observe.Scope{Prior: prior})
	if err != nil {
		return nil, err
	}
	spec, err := start(ctx, target, step.Init, in)
	return &watchclient.Request{Address: addr, Reference: target.Reference, Spec: spec}, err
}

// Look queries one resource.
func (l *looker) Look(ctx context.Context, addr string) (watch.Look, error) {
	l.w.mu.Lock()
	seen, r, prior := l.looker, l.by[addr], l.prior
	l.w.mu.Unlock()
	if r == nil {
		return watch.Look{Status: drift.Undeclared, Reason: "it is no longer recorded"}, nil
	}
	found := seen.Check(ctx, r)
	if found.Status == drift.Failed {
		return watch.Look{}, errors.New(found.Reason)
	}
	report := &drift.Report{Resources: map[string]*drift.Resource{addr: found}}
	if report.Know(l.w.Baseline); found.Known {
		l.w.known(addr, found)
		return watch.Look{Status: drift.None}, nil
	}
	look := watch.Look{Status: found.Status, Reason: found.Reason, Differs: found.Status == drift.None && len(found.Found) > 0}
	if why := repair.Owed(r, prior.Resources[addr], prior); why != "" && look.Status == drift.None {
		look.Differs = true // the reason names what was acted on
	}
	if look.Status != drift.None || look.Differs {
		look.Found = digest(string(secret.Mask(found.Found, found.Hidden)), found.Reasons, look.Reason)
	}
	return look, nil
}

// take makes a generation the current one.
func (w *watcher) take(g *generation) {
	w.notify(g)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = g
}

func (w *watcher) counted() watch.Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}

// unwatched lists the resources that are not watched, sorted.
func (g *generation) unwatched() []string { return slices.Sorted(maps.Keys(g.left)) }
