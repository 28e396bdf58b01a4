package watch

import (
	"context"
	"time"

	"deployster/plan/drift"
)

// lane has the resources that are queried with the same program: one that hangs occupies
// places of its own lane only.
type lane struct {
	places, running int
	urgent, timed   queue
}

// lane returns the lane of a name, with its places in this generation.
func (w *watcher) lane(name string) *lane {
	l := w.lanes[name]
	if l == nil {
		due := func(urgent bool) func(it *item) time.Duration {
			return func(it *item) time.Duration {
				if it.looking || it.urgent() != urgent {
					return never
				}
				return it.due
			}
		}
		l = &lane{urgent: queue{at: due(true), slot: func(it *item) *int { return &it.urgentSlot }},
			timed: queue{at: due(false), slot: func(it *item) *int { return &it.timedSlot }}}
		w.lanes[name] = l
	}
	l.places = max(1, w.gen.Places[name])
	return l
}

func (l *lane) put(it *item) {
	l.urgent.put(it)
	l.timed.put(it)
}

func (l *lane) drop(it *item) {
	l.urgent.drop(it)
	l.timed.drop(it)
}

// pick returns the queue of the next query; nil = none is due. Queries by events go
// before polls, but not before those that have waited long.
func (l *lane) pick(now time.Duration) *queue {
	urgent, timed := l.urgent.next(), l.timed.next()
	switch {
	case l.running >= l.places:
		return nil
	case urgent <= now && (timed > now || urgent-head <= timed):
		return &l.urgent
	case timed <= now:
		return &l.timed
	}
	return nil
}

// together is how long a poll waits for others: waking up takes as much as several polls.
const together = 250 * time.Millisecond

// nextLook returns when to start the next query that has a place; never = not before another has ended.
func (w *watcher) nextLook() time.Duration {
	at := never
	for _, l := range w.lanes {
		for _, q := range []*queue{&l.urgent, &l.timed} {
			due := q.next()
			if due == never || l.running >= l.places || !w.room(q.list[0]) {
				continue
			}
			if q == &l.timed {
				due += together - due%together
			}
			at = min(at, due)
		}
	}
	return at
}

// room reports whether the query of an item may start, by the limit of those that start a container.
func (w *watcher) room(it *item) bool { return !it.Cold || w.gen.Cold == 0 || w.cold < w.gen.Cold }

// giveUp releases the place of a query among those that start a container.
func (w *watcher) giveUp(it *item) {
	if it.cold {
		it.cold = false
		w.cold--
	}
}

// looked is the result of a query.
type looked struct {
	it   *item
	lane *lane
	look Look
	err  error
}

// startLooks starts the queries that are due and have a place.
func (w *watcher) startLooks(ctx context.Context, now time.Duration) {
	looker := w.gen.Looker
	for _, l := range w.lanes {
		for q := l.pick(now); q != nil && w.room(q.list[0]); q = l.pick(now) {
			it := q.pop()
			if l.running++; it.Cold {
				it.cold = true
				w.cold++
			}
			it.begin(now)
			w.placed(it)
			addr := it.Address
			w.running.Go(func() {
				look, err := looker.Look(ctx, addr)
				w.looks <- looked{it, l, look, err}
			})
		}
	}
}

// longLooks takes the places among those that start a container from queries that take
// long, so that a hanging one keeps only a place of its own lane. It reports, once, each
// query that should have ended by itself, and that nothing here can end. stands is true if
// no lane can start a query any more: then the whole watch has to be restarted.
func (w *watcher) longLooks(now time.Duration) (stands bool) {
	all, hanging := map[*lane]int{}, map[*lane]int{}
	for _, it := range w.items {
		all[it.lane]++
		if it.looking && now-it.began >= placeMost {
			w.giveUp(it)
		}
		if !it.looking || it.Longest == 0 || now-it.began <= it.Longest {
			continue
		}
		if hanging[it.lane]++; !it.hangs {
			it.hangs = true
			w.tell(Hanging{it.Address, now - it.began})
			w.found(it, Look{Status: drift.Failed, Reason: "its check hangs"}, it.why, nil)
			w.placed(it)
		}
	}
	for l, n := range all {
		if hanging[l] < min(n, l.places) {
			return false
		}
	}
	return len(all) > 0
}

// look brings forward the next query of an item, as far as its rate allows.
func (w *watcher) look(it *item, at time.Duration, why Why) {
	it.dirty = true
	if it.looking {
		return // looked decides what follows
	}
	it.due, it.why = min(it.due, max(at, it.byEvents(w.now()))), why
	w.placed(it)
}

// looked handles the result of a query.
func (w *watcher) looked(l looked) {
	l.lane.running--
	w.giveUp(l.it)
	it, now := l.it, w.now()
	if w.items[it.Address] != it {
		return
	}
	it.looking = false
	told := Looked{Address: it.Address, Why: it.why, Status: l.look.Status, Took: now - it.began, Late: it.late}
	if l.err != nil {
		told.Status = drift.Failed
	}
	w.tell(told)
	switch {
	case it.outdated:
		it.outdated = false
	case l.err != nil:
		it.failures++
		wait := about(pause(it.failures, askFirst, askMost))
		w.found(it, Look{Status: drift.Failed, Reason: l.err.Error()}, it.why, l.err)
		it.due, it.why = now+wait, Again
	default:
		w.judge(it, l.look, now)
		it.failures, it.due, it.why = 0, it.byTime(now), Poll
		it.fresh = false
	}
	if it.dirty {
		it.due, it.why = min(it.due, it.byEvents(now)), ByEvent
	}
	w.placed(it)
}

// judge compares the result of a query with the last one.
func (w *watcher) judge(it *item, look Look, now time.Duration) {
	if look.Status == drift.None && !look.Differs {
		look = Look{Status: drift.None}
	}
	changed := look != it.found
	if it.why == ByEvent && it.useful(now, changed) {
		w.tell(Noisy{it.Address})
	}
	if it.why == Poll && changed && look.wrong() && it.live && !it.dirty && it.status == drift.None {
		polled := it.overlooked(now)
		if w.tell(Missed{it.Address, polled}); polled {
			it.process.restart()
		}
	}
	if look.wrong() {
		it.suspect = min(it.suspect, it.began)
		w.want(it, look, now)
	} else {
		it.suspect, it.wanted = never, never
	}
	righted := it.found.wrong() && !look.wrong()
	if w.found(it, look, it.why, nil); righted {
		w.reconsider(now)
	}
}

// found reports the result of a query if it differs from the last one.
func (w *watcher) found(it *item, look Look, why Why, err error) {
	was := it.status
	if look != it.found && (was != "" || look.wrong() || look.Status != drift.None) {
		f := Finding{Address: it.Address, Was: was, Look: look, Why: why, Detail: it.detail, Error: err}
		if it.wanted != never {
			f.Next = max(0, it.wanted-w.now())
		}
		w.tell(f)
	}
	it.status, it.found, it.detail = look.Status, look, ""
}
