package watch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// What a process of a type does with what it sees.
const (
	tells  = iota // tells of each change
	lies          // says that it watches, and tells nothing
	noise         // tells of changes that there were not
	dies          // ends again and again
	polled        // there is none
	kinds
)

// thing is the world's side of a resource.
type thing struct {
	watch.Resource
	kind int
	tell func(watch.SourceEvent)
	die  chan error // ends its process
	live time.Time  // its process watches since then; zero = it does not

	drift, broken, failing, out bool
	fought                      bool      // somebody else changes it again and again
	deadline                    time.Time // for the look that must find the drift; zero = it was found
	found                       time.Time // when a look found it; zero = it was not
	lastLook, lastEnd           time.Time // of a look's begin; of a repair's end
	allowed                     float64   // looks at once
	looking                     bool
	ill                         time.Time // until then it may be left alone, because it could not be asked
	anew                        time.Time // a generation may want a look at once, until then
	repairs                     int       // in a row, as the rules count them
}

// world is the model: it makes things drift, and holds the watcher to its rules.
type world struct {
	t     *testing.T
	mu    sync.Mutex // guards what follows
	rand  *rand.Rand
	order []*thing
	by    map[string]*thing
	busy  map[string]int // looks that run, by lane
	most  map[string]int

	repairing bool
	free      time.Time // when the repairer was last free
	locked    time.Time // others have the state until then
	excuse    time.Time // until then looks may be late: a lane was full, or the machine was suspended
	slept     time.Duration

	looks, drifts, fixed, refusals int
	status                         map[string]drift.Status // as it was told
	told                           map[string]int
}

func newWorld(t *testing.T, n int, seed uint64, poll time.Duration) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), by: map[string]*thing{}, busy: map[string]int{}, most: map[string]int{},
		status: map[string]drift.Status{}, told: map[string]int{}}
	for i := range n {
		th := &thing{kind: i % kinds, die: make(chan error, 1)}
		th.fought = i%50 == 0
		th.Resource = watch.Resource{Address: fmt.Sprintf("thing%d", i), Lane: fmt.Sprintf("lane%d", i%7), Poll: poll, Alone: poll / 4,
			Watched: th.kind != polled, Repair: i%11 != 3, Request: "1", Recorded: "1"}
		if th.kind == noise {
			th.Alone = 0 // it is never looked at by time while nobody watches
		}
		w.order, w.by[th.Address] = append(w.order, th), th
		w.most[th.Lane] = 4 + n/50
	}
	return w
}

// generation is what the watcher gets: without those that somebody took out.
func (w *world) generation() watch.Generation {
	g := watch.Generation{Looker: w, Repairer: w, Source: w, Places: w.most}
	for _, th := range w.order {
		if !th.out {
			g.Resources = append(g.Resources, th.Resource)
		}
	}
	return g
}

func (w *world) fail(format string, args ...any) {
	w.t.Errorf("after %s: %s", time.Since(epoch), fmt.Sprintf(format, args...))
}

// epoch is where the time of a bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Look asks a thing, and holds the look to its rate.
func (w *world) Look(ctx context.Context, addr string) (watch.Look, error) {
	w.mu.Lock()
	th, now := w.by[addr], time.Now()
	w.looks++
	th.allowed = min(3, th.allowed+now.Sub(th.lastLook).Seconds()) - 1
	if th.allowed < -0.001 && now.After(th.anew) {
		w.fail("%s was looked at again after %s, %.3f times too often", addr, now.Sub(th.lastLook), -th.allowed)
	}
	if th.looking && now.After(th.anew) {
		w.fail("%s is looked at twice at one time", addr)
	}
	if w.busy[th.Lane]++; w.busy[th.Lane] > w.most[th.Lane] {
		w.fail("%d looks at one time in %s", w.busy[th.Lane], th.Lane)
	}
	th.lastLook, th.looking = now, true
	took := time.Duration(w.rand.IntN(5)) * time.Millisecond
	if w.rand.IntN(5000) == 0 {
		took = 20 * time.Second // it hangs until its time is up
	}
	broken, drifts := th.broken, th.drift
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return watch.Look{}, ctx.Err()
	case <-time.After(took):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[th.Lane]--
	th.looking = false
	switch {
	case broken || took > time.Second:
		th.ill = time.Now().Add(12 * time.Minute)
		if th.drift && !th.deadline.IsZero() {
			th.deadline = latest(th.deadline, th.ill)
		}
		return watch.Look{}, errors.New("its image does not answer")
	case !drifts:
		return watch.Look{Status: drift.None, Found: fmt.Sprint(now)}, nil
	}
	if now := time.Now(); !th.deadline.IsZero() && now.After(latest(th.deadline, w.excuse)) {
		w.fail("the drift of %s (kind %d) was to be found until %s", addr, th.kind, th.deadline.Sub(epoch))
	}
	if th.deadline = (time.Time{}); th.drift && th.found.IsZero() {
		th.found = time.Now()
	}
	return watch.Look{Status: drift.Drifted, Reason: "changed", Found: "1"}, nil
}

// Repair repairs what drifted, and holds the repairs to their rate.
func (w *world) Repair(ctx context.Context, addrs []string) (map[string]watch.Outcome, error) {
	w.mu.Lock()
	begin := time.Now()
	if w.repairing {
		w.fail("two repairs at one time")
	}
	w.repairing = true
	if wait := begin.Sub(w.free); !w.free.IsZero() && wait < 250*time.Millisecond {
		w.fail("a repair began %s after the last", wait)
	}
	if len(addrs) > 512 {
		w.fail("%d resources in one repair", len(addrs))
	}
	wait := max(0, w.locked.Sub(begin))
	refuse := w.rand.IntN(50) == 0
	if !refuse {
		for _, addr := range addrs {
			w.mayRepair(w.by[addr], begin)
		}
	}
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(wait + time.Duration(20+rand.IntN(100))*time.Millisecond):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repairing, w.free = false, time.Now()
	if refuse {
		w.refusals++
		w.excuse = w.free.Add(2 * time.Minute)
		return nil, errors.New("the disk is full")
	}
	outcomes := map[string]watch.Outcome{}
	for _, addr := range addrs {
		outcomes[addr] = w.repair(w.by[addr])
	}
	return outcomes, nil
}

// mayRepair holds the begin of one resource's repair to the rules: not before its
// hold-back is over, and not much later than the repairer was free.
func (w *world) mayRepair(th *thing, now time.Time) {
	if !th.Repair {
		w.fail("%s is only to be told of", th.Address)
	}
	if th.found.IsZero() {
		return // it was found to have drifted before a repair, and was right then
	}
	if th.repairs > 0 && th.found.Sub(th.lastEnd) >= 10*time.Minute {
		th.repairs = 0
	}
	held := time.Duration(0)
	if th.repairs >= 2 {
		held = min(time.Second<<(th.repairs-2), 10*time.Minute)
	}
	if now.Sub(th.lastEnd) < held {
		w.fail("%s was repaired %s after its repair %d, which holds it back for %s", th.Address, now.Sub(th.lastEnd), th.repairs, held)
	}
	due := latest(th.found, th.lastEnd.Add(held), w.free, w.excuse)
	if late := now.Sub(due); late > time.Second {
		w.fail("%s was repaired %s after it could have been (repair %d, held back for %s)", th.Address, late, th.repairs, held)
	}
}

// repair ends the drift of one thing.
func (w *world) repair(th *thing) watch.Outcome {
	switch {
	case !th.drift:
		return watch.Right
	}
	th.repairs++
	th.lastEnd = time.Now()
	if th.failing {
		return watch.Failed
	}
	th.drift, th.found, th.deadline = false, time.Time{}, time.Time{}
	w.fixed++
	w.event(th, "")
	if th.fought && time.Now().Hour()%4 == 0 {
		time.AfterFunc(300*time.Millisecond, func() { w.mu.Lock(); defer w.mu.Unlock(); w.change(th) })
	}
	return watch.Repaired
}

// Watch is the process that watches a thing.
func (w *world) Watch(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
	w.mu.Lock()
	th := w.by[addr]
	ready := time.Duration(w.rand.IntN(2000)) * time.Millisecond
	if w.rand.IntN(20) == 0 {
		ready = time.Hour // it never says that it watches
	}
	w.mu.Unlock()
	first := time.After(ready)
	for {
		select {
		case <-ctx.Done():
			w.mu.Lock()
			th.tell, th.live = nil, time.Time{}
			w.bound(th)
			w.mu.Unlock()
			return ctx.Err()
		case err := <-th.die:
			w.mu.Lock()
			th.tell, th.live = nil, time.Time{}
			w.bound(th)
			w.mu.Unlock()
			return err
		case <-first:
			first = nil
			w.mu.Lock()
			th.tell, th.live = tell, time.Now()
			tell(watch.SourceEvent{First: true})
			w.bound(th)
			w.mu.Unlock()
		}
	}
}

// pause is a random time, of the given mean.
func (w *world) pause(mean time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.rand.ExpFloat64() * float64(mean))
}

// event tells of a change, as the kind of the thing does.
func (w *world) event(th *thing, detail string) {
	if th.tell != nil && th.kind != lies {
		th.tell(watch.SourceEvent{Detail: detail})
	}
}

// bound says until when a drift that was not found must be found, as things are
// now.
func (w *world) bound(th *thing) {
	if !th.drift || th.deadline.IsZero() && !th.found.IsZero() {
		return
	}
	within := th.Alone
	switch {
	case th.live.IsZero() && within == 0:
		within = 24 * time.Hour // until its process is back
	case th.live.IsZero():
	case th.kind == lies:
		within = th.Poll
	default:
		within = 20 * time.Second
	}
	th.deadline = latest(time.Now().Add(within*12/10+30*time.Second), th.ill)
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}
