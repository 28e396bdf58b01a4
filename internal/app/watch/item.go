package watch

import (
	"time"

	"deployster/plan/drift"
)

// item is a resource with what the watch has recorded of it. Times are counted from the
// start of Run.
type item struct {
	Resource
	lane    *lane
	process *process // nil = no process watches it

	due   time.Duration // when the next query is due
	why   Why           // the reason of the next query, or of the one in progress
	began time.Duration // when the last query started
	spent time.Duration // when the rate of queries allows as many at once again as it ever does
	late  time.Duration // how long after it was due it started

	looking  bool
	cold     bool   // the query in progress has a place among those that start a container
	hangs    bool   // Hanging was reported for the query in progress
	dirty    bool   // something happened since the last query started
	outdated bool   // the query in progress is of an earlier generation
	fresh    bool   // it was not queried in this generation
	detail   string // of the last event

	status   drift.Status // the result of the last query; "" = none yet
	found    Look
	failures int // failed queries in a row

	suspect   time.Duration // when the first event or query showed what is wrong; never = nothing is wrong
	wanted    time.Duration // when it may be repaired; never = it needs no repair
	repairing bool
	drifted   bool          // a query found drift during a repair
	repairs   int           // in a row, without quiet between them
	settled   time.Duration // the end of the last one
	flapping  bool          // Flapping was reported
	refused   Look          // the finding whose repair was not approved
	askAgain  time.Duration // when that repair is tried again

	live       bool // its process watches
	busy       bool
	missed     int           // polls that found what its process did not report
	missedFrom time.Duration // the first of them
	distrust   time.Duration // it is polled as if there were no process until then

	useless     int // queries by events in a row that found no change
	uselessFrom time.Duration
	uselessLast time.Duration
	noisy       bool // Noisy was reported

	urgentSlot, timedSlot, repairSlot int // its places in the queues

	open    bool         // its value in the counts
	watched bool         // its value in the counts
	counted drift.Status // its value in the counts
	byEvent bool         // its value in the counts
}

// urgent reports whether its next query goes before due polls.
func (it *item) urgent() bool { return it.why == ByEvent || it.why == ByRepair }

// interval returns the longest time until its next query; 0 = no polls.
func (it *item) interval(now time.Duration) time.Duration {
	if it.live && now >= it.distrust {
		return it.Poll
	}
	return it.Alone
}

// byTime returns when the next poll is due. It adds a random part, so that polls that start together do not
// stay together, but only so that they are done in turns: waking up takes as much as several polls.
func (it *item) byTime(now time.Duration) time.Duration {
	every := it.interval(now)
	due := now + about(every)
	switch {
	case every == 0:
		return never
	case it.fresh:
		due = now + max(gap, within(every))
	}
	turn := max(every/turns, 1)
	return due + turn - due%turn
}

// byEvents returns the earliest time for a query because of an event. A few may follow each other at once: what a repair
// changes is an event too, and a drift right after it does not wait.
func (it *item) byEvents(now time.Duration) time.Duration {
	switch {
	case it.failures > 0:
		return max(now, it.due) // a query that fails is not repeated more often
	case it.noisy:
		return max(now, it.began+noisyGap)
	}
	return max(now, it.spent-(atOnce-1)*gap)
}

// begin records that a query starts.
func (it *item) begin(now time.Duration) {
	it.late, it.began, it.spent = now-max(0, it.due), now, max(now, it.spent)+gap
	it.looking, it.hangs, it.dirty, it.due = true, false, false, never
}

// unsettled reports whether changes are needed about it, or in progress, for another
// reason than a due poll.
func (it *item) unsettled() bool {
	looks := it.why != Poll && it.why != Again && (it.looking || it.due != never)
	return looks || it.looking && it.dirty || it.wanted != never || it.repairing || it.busy
}

// useful records whether a query because of an event found a change. It reports whether
// its events have just turned out to be noise.
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

// overlooked records that its process did not report a drift. It reports whether the
// process is not trusted from now on.
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
