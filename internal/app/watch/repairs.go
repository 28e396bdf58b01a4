package watch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"deployster/plan/drift"
)

// want schedules the repair of an item, unless a repair is in progress or was just
// refused. An item that drifts again and again is held back.
func (w *watcher) want(it *item, look Look, now time.Duration) {
	switch {
	case !it.Repair || it.wanted != never:
		return
	case it.repairing:
		it.drifted = true
		return
	case look == it.refused && now < it.askAgain:
		return
	case now-it.settled >= quiet:
		it.repairs, it.flapping = 0, false
	}
	it.wanted = max(now, it.settled+hold(it.repairs))
	if it.repairs+1 >= flappingFrom && !it.flapping {
		it.flapping = true
		w.tell(Flapping{Address: it.Address, Times: it.repairs, Next: it.wanted - now})
	}
}

// repaired is the result of a repair.
type repaired struct {
	number   int // of the generation that started it
	outcomes map[string]Outcome
	err      error
}

// nextRepair returns when the next repair starts. Resources that drift together are
// repaired together.
func (w *watcher) nextRepair() time.Duration {
	at := w.waiting.next()
	if at == never || w.batch != nil {
		return never
	}
	if w.waiting.Len() < batch {
		at += collect
	}
	return max(at, w.pauseTo)
}

// startRepair starts the repair of the items that wait for one. Only one repair runs at a time.
func (w *watcher) startRepair(ctx context.Context, now time.Duration) {
	if now < w.nextRepair() {
		return
	}
	var addrs []string
	for w.waiting.next() <= now && len(addrs) < batch {
		it := w.waiting.pop()
		it.wanted, it.repairing, it.drifted = never, true, false
		w.placed(it)
		w.batch, addrs = append(w.batch, it), append(addrs, it.Address)
	}
	w.batchAt, w.slow = now, false
	by, number := w.gen.Repairer, w.number
	w.running.Go(func() {
		outcomes, err := by.Repair(ctx, addrs)
		w.repairs <- repaired{number, outcomes, err}
	})
}

// tellSlow reports, once, a repair for which others have to wait long.
func (w *watcher) tellSlow(now time.Duration) {
	if w.batch == nil || w.slow || now-w.batchAt < slowFrom || w.waiting.next() > now {
		return
	}
	w.slow = true
	s := Slow{Waiting: w.waiting.Len(), Since: now - w.batchAt}
	for _, it := range w.batch {
		s.Resources = append(s.Resources, it.Address)
	}
	w.tell(s)
}

// repaired handles the result of a repair. A repair that could not start is tried again,
// for the same items.
func (w *watcher) repaired(r repaired) {
	items, now := w.batch, w.now()
	w.batch = nil
	wait := between
	if r.err == nil {
		w.refusals = 0
	} else if w.refusals++; !errors.Is(r.err, ErrElsewhere) && !errors.Is(r.err, context.Canceled) {
		wait = pause(w.refusals, refusedFirst, refusedMost)
		w.tell(Refused{Resources: len(items), Err: r.err, Next: wait})
	} else if r.number == w.number {
		wait = refusedMost // until the next generation, which resets the pause
	}
	w.pauseTo = now + wait
	righted := slices.Contains(slices.Collect(maps.Values(r.outcomes)), Repaired) ||
		slices.ContainsFunc(items, func(it *item) bool { return r.outcomes[it.Address] == Right })
	for _, it := range items {
		if w.items[it.Address] != it {
			continue
		}
		it.repairing = false
		if r.err == nil {
			w.outcome(it, r.outcomes[it.Address], righted, now)
		} else if it.Repair {
			it.wanted = now
		}
		delete(r.outcomes, it.Address)
		w.placed(it)
	}
	for addr, o := range r.outcomes {
		if it := w.items[addr]; it != nil {
			w.touched(it, o, now)
		}
	}
	if righted {
		w.reconsider(now)
	}
}

// reconsider queries what was not approved, because something else is VALID again: it may
// have differed because of that.
func (w *watcher) reconsider(now time.Duration) {
	for it := range w.unapproved {
		if w.items[it.Address] == it && it.found.wrong() {
			it.askAgain = now
			w.look(it, now, ByRepair)
		}
	}
	clear(w.unapproved)
}

// outcome handles the outcome of one of the resources of a repair. righted reports that one of
// them is VALID again.
func (w *watcher) outcome(it *item, o Outcome, righted bool, now time.Duration) {
	switch o {
	case Repaired:
		it.repairs, it.settled = it.repairs+1, now
		w.tell(Righted{Address: it.Address, Took: now - min(now, it.suspect)})
		w.right(it, ByRepair, now)
	case Right:
		w.right(it, ByRepair, now)
	case NotApproved:
		if w.unapproved[it] = struct{}{}; righted {
			break // see reconsider
		}
		if it.refused != it.found {
			w.tell(Unapproved{it.Address})
		}
		it.refused, it.askAgain = it.found, now+holdMost
	default:
		it.repairs, it.settled = it.repairs+1, now
		if it.Repair {
			it.wanted = now + hold(it.repairs)
		}
	}
	if it.drifted {
		w.look(it, now, ByRepair) // something has changed since it was repaired, or the repair failed
	}
}

// touched handles the outcome of a resource that depends on a repaired one.
func (w *watcher) touched(it *item, o Outcome, now time.Duration) {
	switch o {
	case Repaired, Right:
		wrong := it.found.wrong()
		if w.right(it, Dependency, now); wrong {
			w.look(it, now, Dependency) // it may have been found wrong after the query of the repair
		}
	case Failed:
		w.look(it, now, Dependency)
	}
	w.placed(it)
}

// right records that a repair has found a resource VALID. The result of a query that
// started before is ignored.
func (w *watcher) right(it *item, why Why, now time.Duration) {
	it.wanted, it.suspect, it.failures = never, never, 0
	switch {
	case it.looking:
		it.outdated, it.dirty = true, true
	case it.dirty: // an event of the repair itself, or of a change after the query of the repair
		it.due, it.why = min(it.due, it.byEvents(now)), ByEvent
	default:
		it.due, it.why = it.byTime(now), Poll
	}
	w.found(it, Look{Status: drift.None}, why, nil)
}
