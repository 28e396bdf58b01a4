package watch

import (
	"cmp"
	"context"
	"sync"
	"time"

	"deployster/plan/drift"
)

// watcher owns everything that changes.
type watcher struct {
	Options
	tell  func(Event)
	start time.Time

	gen     Generation
	number  int // of generations so far
	items   map[string]*item
	lanes   map[string]*lane
	cold    int // queries that have a place among those that start a container
	looks   chan looked
	mail    *mailbox
	running sync.WaitGroup // queries, the repair, processes

	waiting  queue // the resources to repair
	repairs  chan repaired
	batch    []*item       // the repair in progress
	batchAt  time.Duration // when it started
	slow     bool          // Slow was reported for it
	pauseTo  time.Duration // no repair starts before
	refusals int           // in a row

	unapproved map[*item]struct{} // not approved since something was last right again

	counts     Counts
	reported   Counts        // the last argument of Counted
	settled    bool          // Settled was reported with Converged
	quietSince time.Duration // since when there is nothing to do; never = there is something
	slept      time.Duration
	beatAt     time.Duration
}

// now returns the time since the start. It stands still while the machine is suspended,
// and no change of the clock affects it.
func (w *watcher) now() time.Duration { return time.Since(w.start) }

// Run watches one generation of resources after another, until ctx ends or an option ends
// it. It waits for the first generation. When it returns, all that it started has ended.
// tell is called by one goroutine.
func Run(ctx context.Context, o Options, generations <-chan Generation, tell func(Event)) (End, Counts) {
	work, stop := context.WithCancel(ctx)
	w := &watcher{Options: o, tell: tell, start: time.Now(), items: map[string]*item{}, unapproved: map[*item]struct{}{},
		lanes: map[string]*lane{}, looks: make(chan looked),
		repairs: make(chan repaired), mail: &mailbox{wake: make(chan struct{}, 1), notes: map[*process]*note{}}, quietSince: never}
	w.waiting = queue{at: func(it *item) time.Duration { return it.wanted }, slot: func(it *item) *int { return &it.repairSlot }}
	if o.Slept != nil {
		w.slept = o.Slept()
	}
	end := w.loop(ctx, work, generations)
	stop()
	ended := make(chan struct{})
	go func() { w.running.Wait(); close(ended) }()
	for {
		select {
		case <-w.looks: // it was interrupted, and its result does not count
		case r := <-w.repairs:
			w.repaired(r)
		case <-ended:
			return end, w.counts
		}
	}
}

// loop does what is due, and waits for the next event.
func (w *watcher) loop(ctx, work context.Context, generations <-chan Generation) End {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := w.now()
		switch end, over := w.over(ctx, now); {
		case over:
			return end
		case w.gen.Looker != nil:
			w.beat(now)
			w.startLooks(work, now)
			w.startRepair(work, now)
		}
		w.report(w.now())
		timer.Reset(w.next() - now)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case g := <-generations:
			w.generation(work, g)
		case l := <-w.looks:
			w.looked(l)
		case r := <-w.repairs:
			w.repaired(r)
		case <-w.mail.wake:
			w.read()
		}
	}
}

// over reports whether it is time to end, and why.
func (w *watcher) over(ctx context.Context, now time.Duration) (End, bool) {
	busy := w.Busy != nil && w.Busy()
	if busy && w.quietSince != never {
		w.quietSince = now
	}
	switch {
	case ctx.Err() != nil:
		return Stopped, true
	case w.gen.Looker == nil:
		return "", false
	case w.Converged > 0 && w.quietSince != never && now >= w.quietSince+w.Converged:
		return Converged, true
	}
	return Over, w.MaxRuntime > 0 && now >= w.MaxRuntime && !busy
}

// next returns when there is something to do if no event comes.
func (w *watcher) next() time.Duration {
	at := w.beatAt
	if w.Converged > 0 && w.quietSince != never {
		at = min(at, w.quietSince+w.Converged)
	}
	if w.MaxRuntime > w.now() {
		at = min(at, w.MaxRuntime)
	}
	if !w.settled && w.quietSince != never {
		at = min(at, w.quietSince+w.settles())
	}
	return min(at, w.nextLook(), w.nextRepair())
}

// report reports counts and Settled when they have changed.
func (w *watcher) report(now time.Duration) {
	if w.Counted != nil && w.counts != w.reported {
		w.reported = w.counts
		w.Counted(w.counts)
	}
	if settled := w.quietSince != never && now >= w.quietSince+w.settles(); settled || w.quietSince == never {
		if settled != w.settled {
			w.settled = settled
			w.tell(Settled{Converged: settled})
		}
	}
}

// settles returns how long there must be nothing to do until that is reported.
func (w *watcher) settles() time.Duration { return cmp.Or(w.Converged, settles) }

// beat reports regularly that the watch works. It also finds out whether the machine was
// suspended: then all resources are queried, as anything may have happened.
func (w *watcher) beat(now time.Duration) {
	if now < w.beatAt {
		return
	}
	w.beatAt = now + beat
	if stands := w.longLooks(now); w.Alive != nil && !stands {
		w.Alive()
	}
	w.tellSlow(now)
	if w.Slept == nil {
		return
	}
	slept := w.Slept()
	if slept-w.slept > suspended {
		for _, it := range w.items {
			if it.failures > 0 {
				it.failures, it.due = 0, never
			}
			w.look(it, now+within(time.Minute), ByEvent)
		}
	}
	w.slept = slept
}

// generation takes over the resources of a new generation. What is equal in both continues
// unchanged; back-off and counters stay with the addresses.
func (w *watcher) generation(ctx context.Context, g Generation) {
	first, now := w.gen.Looker == nil, w.now()
	gone := w.items
	w.number++
	w.gen, w.items, w.pauseTo, w.refusals = g, make(map[string]*item, len(g.Resources)), min(w.pauseTo, now+between), 0
	for _, l := range w.lanes {
		l.places = 0
	}
	for _, r := range g.Resources {
		it := gone[r.Address]
		if it == nil {
			it = &item{due: never, wanted: never, suspect: never, settled: -quiet}
		}
		delete(gone, r.Address)
		w.items[r.Address] = it
		w.take(ctx, it, r, now)
	}
	for _, it := range gone {
		w.forget(it)
	}
	for name, l := range w.lanes {
		if l.places == 0 && l.running == 0 {
			delete(w.lanes, name)
		}
	}
	if w.quietSince == never && w.counts.Open == 0 {
		w.quietSince = now
	}
	w.tell(Loaded{First: first, Counts: w.counts})
}

// take sets an item to its resource in a new generation.
func (w *watcher) take(ctx context.Context, it *item, r Resource, now time.Duration) {
	was, watched := it.Resource, r.Watched && w.gen.Source != nil
	if it.lane != nil {
		it.lane.drop(it)
	}
	it.Resource, it.lane = r, w.lane(r.Lane)
	it.refused = Look{}
	if it.process != nil && (!watched || was.Request != r.Request) {
		w.unwatch(it)
	}
	if watched && it.process == nil {
		it.process = w.watch(ctx, w.gen.Source, r.Address)
	}
	if was.Address == "" {
		w.counts.Resources++
	}
	switch {
	case was.Address == "", was.Request != r.Request, was.Recorded != r.Recorded:
		it.fresh, it.failures, it.outdated = true, 0, it.looking
		it.due, it.why = now, Start
	case !it.looking && it.why == Poll && (was.Poll != r.Poll || was.Alone != r.Alone):
		it.due = it.byTime(now)
	}
	if !r.Repair {
		it.wanted = never
	} else if it.found.wrong() {
		w.want(it, it.found, now) // it may be approved now
	}
	w.placed(it)
}

// forget ends everything about a resource that is no longer watched.
func (w *watcher) forget(it *item) {
	it.lane.drop(it)
	w.giveUp(it)
	w.waiting.drop(it)
	delete(w.unapproved, it)
	w.unwatch(it)
	it.due, it.wanted, it.busy, it.repairing, it.looking = never, never, false, false, false
	it.status, it.Watched = "", false
	w.recount(it)
	it.Address = "" // results that arrive for it later are ignored
	w.counts.Resources--
}

// placed puts an item into its places in all queues, and counts it.
func (w *watcher) placed(it *item) {
	it.lane.put(it)
	w.waiting.put(it)
	w.recount(it)
}

// recount updates the counts for an item.
func (w *watcher) recount(it *item) {
	count := func(status drift.Status, by int) {
		switch status {
		case drift.Gone:
			w.counts.Gone += by
			w.counts.Drifted += by
		case drift.Drifted:
			w.counts.Drifted += by
		case drift.Failed:
			w.counts.Failed += by
		}
	}
	if it.status != it.counted {
		count(it.counted, -1)
		count(it.status, 1)
		it.counted = it.status
	}
	if it.Watched != it.watched {
		w.counts.Watched += sign(it.Watched)
		it.watched = it.Watched
	}
	if it.live != it.byEvent {
		w.counts.ByEvents += sign(it.live)
		it.byEvent = it.live
	}
	if open := it.unsettled(); open != it.open {
		w.counts.Open += sign(open)
		it.open = open
	}
	switch {
	case w.counts.Open > 0:
		w.quietSince = never
	case w.quietSince == never:
		w.quietSince = w.now()
	}
}

func sign(up bool) int {
	if up {
		return 1
	}
	return -1
}
