package modeltest_test

import "fmt"

// stats count what happened, to know that something did.
type stats struct {
	plans, refusals, applies, actions, failed, crashes, interrupts, stale, skipped, early, mute int
	watch                                                                                       watchStats
}

func (s *stats) add(o stats) {
	s.plans += o.plans
	s.refusals += o.refusals
	s.applies += o.applies
	s.actions += o.actions
	s.failed += o.failed
	s.crashes += o.crashes
	s.interrupts += o.interrupts
	s.stale += o.stale
	s.skipped += o.skipped
	s.early += o.early
	s.mute += o.mute
	w := &s.watch
	w.righted, w.failed, w.refused = w.righted+o.watch.righted, w.failed+o.watch.failed, w.refused+o.watch.refused
	w.crashes, w.interrupts = w.crashes+o.watch.crashes, w.interrupts+o.watch.interrupts
	w.elsewhere, w.quiet = w.elsewhere+o.watch.elsewhere, w.quiet+o.watch.quiet
}

func (s stats) String() string {
	return fmt.Sprintf("%d plans (%d refused), %d applies (%d stale, %d failed, %d interrupted, %d crashed), %d actions, %d steps skipped, %d queried early (and %d without an answer)",
		s.plans, s.refusals, s.applies, s.stale, s.failed, s.interrupts, s.crashes, s.actions, s.skipped, s.early, s.mute)
}
