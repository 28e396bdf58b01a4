package watch

import (
	"time"

	"deployster/plan/drift"
)

// item is a resource, and all that is remembered of it. Times are counted from
// the start of Run.
type item struct {
	Resource
	lane    *lane
	process *process // nil: nobody watches it

	due   time.Duration // of the next look
	why   Why           // of the next look, or of the one that runs
	began time.Duration // of the last look
	late  time.Duration // it began so long after it was due

	looking  bool
	cold     bool   // the look that runs has a place among those that start a container
	hangs    bool   // that the look which runs takes too long was told
	dirty    bool   // something happened since the last look began
	outdated bool   // the look that runs is of an earlier generation
	fresh    bool   // it was not looked at in this generation
	detail   string // of the last event

	status   drift.Status // what the last look found; "" = none has
	found    Look
	failures int // looks in a row that failed

	suspect   time.Duration // the first event or look that told of what is not right; never = it is
	wanted    time.Duration // when it may be repaired; never = it need not
	repairing bool
	drifted   bool          // a look found drift while a repair was at it
	repairs   int           // in a row, without quiet between them
	settled   time.Duration // the end of the last one
	flapping  bool          // that was told
	refused   Look          // the finding that was not approved
	askAgain  time.Duration // when that is tried again

	live       bool // its process watches
	busy       bool
	missed     int           // polls that found what its process did not tell
	missedFrom time.Duration // the first of them
	distrust   time.Duration // it is polled as if there were no process until then

	useless     int // looks by events in a row that found nothing new
	uselessFrom time.Duration
	uselessLast time.Duration
	noisy       bool // that was told

	urgentSlot, timedSlot, repairSlot int // its places in queues

	open    bool         // as it is counted
	watched bool         // as it is counted
	counted drift.Status // as it is counted
	byEvent bool         // as it is counted
}

// urgent reports whether its next look comes before those that are due by time.
func (it *item) urgent() bool { return it.why == ByEvent || it.why == ByRepair }

// interval is the longest time until its next look; 0 = there is none by time.
func (it *item) interval(now time.Duration) time.Duration {
	if it.live && now >= it.distrust {
		return it.Poll
	}
	return it.Alone
}

// byTime is when it is looked at next if nothing happens. What begins together
// does not stay together.
func (it *item) byTime(now time.Duration) time.Duration {
	every := it.interval(now)
	switch {
	case every == 0:
		return never
	case it.fresh:
		return now + max(gap, within(every))
	}
	return now + about(every)
}

// byEvents is the earliest time for a look because of an event.
func (it *item) byEvents(now time.Duration) time.Duration {
	least := gap
	if it.noisy {
		least = noisyGap
	}
	if it.failures > 0 {
		return max(now, it.due) // what cannot be asked is not asked more often
	}
	return max(now, it.began+least)
}

// unsettled reports whether something is to be done about it, or is being done,
// for another reason than that its time is up.
func (it *item) unsettled() bool {
	looks := it.why != Poll && it.why != Again && (it.looking || it.due != never)
	return looks || it.looking && it.dirty || it.wanted != never || it.repairing || it.busy
}

// useful notes what a look by an event was good for, and reports whether its
// events have just turned out to be noise.
func (it *item) useful(now time.Duration, changed bool) (noise bool) {
	switch {
	case changed:
		it.useless, it.noisy = 0, false
		return false
	case it.useless == 0, !it.noisy && now-it.uselessFrom > time.Minute, now-it.uselessLast > quiet:
		it.useless, it.uselessFrom, it.noisy = 0, now, false
	}
	it.useless, it.uselessLast = it.useless+1, now
	noise = !it.noisy && it.useless >= noisyFrom
	it.noisy = it.noisy || noise
	return noise
}

// overlooked notes that its process did not tell of a drift, and reports whether
// it is not believed from now on.
func (it *item) overlooked(now time.Duration) (polled bool) {
	if it.missed == 0 || now-it.missedFrom > day {
		it.missed, it.missedFrom = 0, now
	}
	if now < it.distrust {
		it.distrust = now + day
	}
	if it.missed++; it.missed < missedFrom {
		return false
	}
	it.missed, it.distrust = 0, now+day
	return true
}
