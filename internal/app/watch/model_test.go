package watch_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/watch"
)

// number is a setting of the environment.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// TestRun_KeepsItsRules lets things drift at random, with processes that tell,
// lie, die and make noise, with locks, full disks, new generations and
// suspensions. DEPLOYSTER_WATCH_DAYS and DEPLOYSTER_WATCH_RESOURCES make it larger.
func TestRun_KeepsItsRules(t *testing.T) {
	days, resources := number("DEPLOYSTER_WATCH_DAYS", 2), number("DEPLOYSTER_WATCH_RESOURCES", 150)
	poll, step, audit := 20*time.Minute, 30*time.Second, time.Duration(0)
	if resources > 1000 {
		poll, step = 6*time.Hour, 3*time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, resources, uint64(number("DEPLOYSTER_WATCH_SEED", 1)), poll)
		ctx, stop := context.WithCancel(t.Context())
		generations := make(chan watch.Generation, 1)
		generations <- w.generation()
		ended := make(chan watch.Counts)
		go func() {
			end, counts := watch.Run(ctx, watch.Options{Slept: w.sleeps}, generations, w.hear)
			if end != watch.Stopped {
				t.Errorf("it ended: %s", end)
			}
			ended <- counts
		}()
		for time.Since(epoch) < time.Duration(days)*24*time.Hour && !t.Failed() {
			time.Sleep(w.pause(step))
			if w.nature() {
				generations <- w.reload()
			}
			if since := time.Since(epoch); since > audit {
				w.audit()
				audit = since + time.Hour
			}
		}
		stop()
		if counts := <-ended; counts.Resources == 0 || counts.Open < 0 || counts.ByEvents < 0 || counts.Failed < 0 || counts.Drifted < 0 {
			t.Errorf("the counts are %+v", counts)
		}
		t.Logf("%d looks, %d drifts, %d repaired, %d repairs refused, told %v", w.looks, w.drifts, w.fixed, w.refusals, w.told)
		for _, what := range []string{"flapping", "missed", "polled", "noisy", "refused", "ended"} {
			if w.told[what] == 0 && !t.Failed() {
				t.Errorf("%s was never told", what)
			}
		}
	})
}

func (w *world) sleeps() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.slept
}

// change makes a thing drift.
func (w *world) change(th *thing) {
	if th.drift || th.out {
		return
	}
	th.drift, th.found = true, time.Time{}
	w.drifts++
	w.bound(th)
	w.event(th, "changed by another program")
}

// nature does one thing to the world, and reports whether there is a new
// generation.
func (w *world) nature() (reload bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	th, now := w.order[w.rand.IntN(len(w.order))], time.Now()
	if th.out {
		return false
	}
	seldom := w.rand.IntN(len(w.order)) < 150
	switch n := w.rand.IntN(1000); {
	case n < 700:
		w.change(th)
	case n < 800 && th.kind == noise && th.tell != nil:
		for i := range 40 {
			time.AfterFunc(time.Duration(i)*time.Second, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.event(th, "")
			})
		}
	case n < 900 && th.kind == dies:
		select {
		case th.die <- errors.New("out of memory"):
		default:
		}
	case n < 920 && !th.broken:
		th.broken = true
		time.AfterFunc(time.Duration(w.rand.IntN(60))*time.Minute, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			th.broken = false
		})
	case n < 940 && !th.failing:
		th.failing = true
		time.AfterFunc(time.Duration(w.rand.IntN(60))*time.Minute, func() { w.mu.Lock(); th.failing = false; w.mu.Unlock() })
	case n < 950:
		w.locked = now.Add(time.Duration(w.rand.IntN(20)) * time.Minute)
	case n < 955 && seldom: // what drifts while the machine sleeps is found soon, whoever tells of it
		w.slept += 5 * time.Minute
		if !th.drift && !th.broken {
			th.drift, th.found, th.deadline = true, time.Time{}, now.Add(100*time.Second)
		}
	case n >= 955 && n < 960 && seldom:
		return true
	}
	return false
}

// reload makes a new generation, in which some are others and some are gone.
func (w *world) reload() watch.Generation {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range len(w.order)/20 + 1 {
		th := w.order[w.rand.IntN(len(w.order))]
		th.anew = time.Now().Add(time.Minute)
		switch w.rand.IntN(3) {
		case 0:
			th.Request += "x"
		case 1:
			th.Recorded += "x"
		case 2:
			th.out = !th.out
			th.drift, th.deadline, th.found, th.repairs, th.lastEnd = false, time.Time{}, time.Time{}, 0, time.Time{}
			delete(w.status, th.Address)
		}
		if len(th.Request) > 5 {
			th.Request, th.Recorded = "1", "1"
		}
	}
	return w.generation()
}

// audit wants each drift to have been found in its time, and repaired in its time.
func (w *world) audit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, th := range w.order {
		now := time.Now()
		if th.drift && !th.deadline.IsZero() && now.After(latest(th.deadline, w.excuse)) {
			w.fail("the drift of %s (kind %d) was to be found until %s: poll %s", th.Address, th.kind, th.deadline.Sub(epoch), th.Poll)
		}
		if th.drift && th.Repair && !th.found.IsZero() && !w.repairing &&
			now.After(latest(th.found, th.lastEnd, w.free, w.locked, w.excuse).Add(11*time.Minute)) {
			w.fail("the drift of %s was found after %s, and is not repaired", th.Address, th.found.Sub(epoch))
		}
	}
}

// hear wants to be told of what is news, and of nothing else.
func (w *world) hear(what watch.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := what.(type) {
	case watch.Finding:
		if was := w.status[e.Address]; e.Was != was && e.Was != "" && was != "" || e.Look.Status == was && e.Look.Reason == "changed" {
			w.fail("%s was %s, and is told to be %s after %s", e.Address, was, e.Look.Status, e.Was)
		}
		w.status[e.Address] = e.Look.Status
		w.told[string(e.Look.Status)]++
	case watch.Flapping:
		w.told["flapping"]++
	case watch.Missed:
		w.told["missed"]++
		if th := w.by[e.Address]; th.kind != lies && th.tell != nil {
			w.told["late"]++
		}
		if e.Polled {
			w.told["polled"]++
		}
	case watch.Noisy:
		w.told["noisy"]++
	case watch.Refused:
		w.told["refused"]++
	case watch.Process:
		if !e.Running {
			w.told["ended"]++
		}
	}
}
