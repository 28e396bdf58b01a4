package apply

import (
	"time"

	"deployster/internal/base/graph"
)

const (
	// paceEvery is how often it is looked how much workers get done.
	paceEvery = 100 * time.Millisecond
	// paceAhead is how much work may be in flight in workers, in the time that it
	// takes them: who has asked waits no longer than that for those before it.
	paceAhead = 500 * time.Millisecond
	// paceMost is how many times as many may be in flight as at the beginning. A
	// worker made with our library takes in 272, so that it can still be told to
	// end one.
	paceMost = 3
)

// pace lets more resources be in flight in workers while those are quick: then
// most of what each waits for is others, and the disk, whose fsyncs all in flight
// share. Where a worker takes long, more in flight would only wait in it.
type pace struct {
	lanes *graph.Lanes
	least int // 0 = there is no bound of its own for workers

	since time.Time
	ended int // since then
}

// did is called when a node that a worker carried out has ended.
func (p *pace) did(node string, now time.Time) {
	if p.least == 0 {
		return
	}
	if p.since.IsZero() {
		p.since = now
	}
	p.ended++
	took := now.Sub(p.since)
	if took < paceEvery {
		return
	}
	p.lanes.Bound(node, min(max(int(time.Duration(p.ended)*paceAhead/took), p.least), paceMost*p.least))
	p.since, p.ended = now, 0
}
