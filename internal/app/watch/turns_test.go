package watch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// other gives each time a finding that was not there before: its events are no noise.
func other() func() (watch.Look, error) {
	n := 0
	return func() (watch.Look, error) {
		n++
		return watch.Look{Status: drift.Drifted, Reason: fmt.Sprint(n)}, nil
	}
}

// waits is what watches and tells nothing more.
func waits(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
	tell(watch.SourceEvent{First: true})
	<-ctx.Done()
	return nil
}

// A process that never says that it watches is ended after a minute, and begun again.
func TestRun_EndsWhoPrintsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(watched)}
		b.watch = func(ctx context.Context, _ string, _ func(watch.SourceEvent)) error { <-ctx.Done(); return nil }
		b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := b.begun["a"]; n < 8 || n > 20 {
			t.Errorf("it was begun %d times", n)
		}
	})
}

// What nothing watches any more is polled as often as if nothing ever had.
func TestRun_PollsWhatIsNotWatchedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(watched)}
		b.watch = func(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
			if b.begun[addr] == 1 {
				tell(watch.SourceEvent{First: true})
				time.Sleep(time.Minute)
			}
			return errors.New("ended")
		}
		if b.run(t, watch.Options{MaxRuntime: 30 * time.Minute}); len(b.looks) < 20 {
			t.Errorf("looks at %v", b.looks)
		}
	})
}

// A process that did not tell of three drifts is begun anew, and not believed for a day.
func TestRun_RefusesFalseOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{repair: all(watch.Repaired), watch: waits, resource: one(watched, func(r *watch.Resource) { r.Poll = 10 * time.Minute })}
		b.look = func(string) (watch.Look, error) {
			if n := len(b.looks); n > 2 && n < 6 { // after the start and the first line
				return gone("")
			}
			return fine("")
		}
		b.run(t, watch.Options{MaxRuntime: 2 * time.Hour})
		if n := count[watch.Missed](b); n != 3 || b.begun["a"] != 2 || len(b.looks) < 60 {
			t.Errorf("missed %d times, begun %d times, %d looks", n, b.begun["a"], len(b.looks))
		}
	})
}

// A look that began before a repair ended has nothing to say of what is after it.
func TestRun_ForgetsWhatWasSeenBeforeARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{resource: one(watched)}
		b.look = func(string) (watch.Look, error) {
			was := time.Since(epoch) < time.Minute
			if n := len(b.looks); n > 1 && was {
				time.Sleep(5 * time.Minute)
			}
			if was {
				return gone("")
			}
			time.Sleep(time.Second)
			return fine("")
		}
		b.watch = func(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
			time.Sleep(10 * time.Second) // the repair runs
			return waits(ctx, addr, tell)
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			b.mu.Unlock()
			time.Sleep(2 * time.Minute)
			b.mu.Lock()
			return all(watch.Repaired)(addrs)
		}
		if b.run(t, watch.Options{MaxRuntime: 30 * time.Minute}); len(b.repairs) != 1 || len(b.looks) < 3 {
			t.Errorf("looks at %v, repairs at %v", b.looks, b.repairs)
		}
	})
}

// What drifts while it is repaired is looked at when that has ended.
func TestRun_ChecksWhatDriftedDuringARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{resource: one(watched), look: gone}
		b.watch = func(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
			time.Sleep(10 * time.Second)
			return waits(ctx, addr, tell)
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			if len(b.repairs) == 1 {
				b.mu.Unlock()
				time.Sleep(2 * time.Minute)
				b.mu.Lock()
			}
			return all(watch.Repaired)(addrs)
		}
		if b.run(t, watch.Options{MaxRuntime: 5 * time.Minute}); len(b.repairs) < 2 {
			t.Errorf("looks at %v, repairs at %v", b.looks, b.repairs)
		}
	})
}

// A look by an event goes before polls, and yet no poll waits for ever.
func TestRun_EventsAndPollsTakeTurns(t *testing.T) {
	for _, flood := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b, news, polls, slowest, happened := &bench{}, other(), 0, time.Duration(0), time.Now()
			b.resource = []watch.Resource{{Address: "a", Lane: "x", Watched: true}}
			for i := range 5 {
				b.resource = append(b.resource, watch.Resource{Address: fmt.Sprint("p", i), Lane: "x", Alone: 5 * time.Second})
			}
			var mu sync.Mutex // guards what looks and the watch program both use
			b.look = func(addr string) (watch.Look, error) {
				began := time.Now()
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				if addr != "a" {
					polls++
					return fine("")
				}
				if !happened.IsZero() {
					slowest = max(slowest, began.Sub(happened))
				}
				happened = time.Time{}
				return news()
			}
			b.watch = func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
				pause := 20 * time.Second
				if tell(watch.SourceEvent{First: true}); flood {
					pause = 10 * time.Millisecond
				} else {
					time.Sleep(time.Minute)
				}
				for ctx.Err() == nil {
					mu.Lock()
					if happened.IsZero() {
						happened = time.Now()
					}
					mu.Unlock()
					tell(watch.SourceEvent{})
					time.Sleep(pause)
				}
				return nil
			}
			b.run(t, watch.Options{MaxRuntime: time.Hour})
			if polls < 900 || !flood && slowest > 1100*time.Millisecond {
				t.Errorf("flood %v: %d polls in an hour, an event waited %s", flood, polls, slowest)
			}
		})
	}
}

// A repair has 512 resources at most, and what is left comes after it.
func TestRun_RepairsInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, most, done := &bench{look: gone}, 0, map[string]bool{}
		for i := range 1200 {
			b.resource = append(b.resource, watch.Resource{Address: fmt.Sprint("r", i), Lane: fmt.Sprint("l", i), Repair: true})
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			most = max(most, len(addrs))
			for _, addr := range addrs {
				done[addr] = true
			}
			return all(watch.Repaired)(addrs)
		}
		if b.run(t, watch.Options{MaxRuntime: time.Minute}); most > 512 || len(done) != 1200 {
			t.Errorf("%d concurrently, %d in all", most, len(done))
		}
	})
}

// What begins together is polled spread over the whole interval.
func TestRun_SpreadsFirstPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine}
		for i := range 100 {
			b.resource = append(b.resource, watch.Resource{Address: fmt.Sprint("r", i), Lane: fmt.Sprint("l", i), Alone: time.Hour})
		}
		if b.run(t, watch.Options{MaxRuntime: 30 * time.Minute}); len(b.looks) < 125 || len(b.looks) > 175 {
			t.Errorf("%d looks in half an hour, 100 of them at the start", len(b.looks))
		}
	})
}

// Polls are done in turns, so that a watch at rest seldom wakes up.
func TestRun_PollsComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, at := time.Now(), map[time.Duration]bool{}
		b := &bench{}
		b.look = func(string) (watch.Look, error) {
			if since := time.Since(start); since > time.Minute { // else it is a first check
				at[since.Truncate(time.Second)] = true
			}
			return fine("")
		}
		for i := range 1000 {
			b.resource = append(b.resource, watch.Resource{Address: fmt.Sprint("r", i), Lane: "l", Alone: time.Hour})
		}
		if b.run(t, watch.Options{MaxRuntime: 31 * time.Minute}); len(at) < 50 || len(at) > 105 || len(b.looks) < 1400 {
			t.Errorf("%d looks, and it woke up %d times for polls in half an hour", len(b.looks), len(at))
		}
	})
}

// A repair that cannot begin is tried again, every minute at last.
func TestRun_RepairsThatCannotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, resource: one()}
		b.repair = func([]string) (map[string]watch.Outcome, error) { return nil, errors.New("the disk is full") }
		b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := len(b.repairs); n < 55 || n > 75 || count[watch.Refused](b) < 55 {
			t.Errorf("%d repairs were begun, told %d times", n, count[watch.Refused](b))
		}
	})
}

// What a repair could not bring back of others is looked at.
func TestRun_ChecksWhatARepairFailedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, looks := &bench{resource: one()}, map[string]int{}
		b.resource = append(b.resource, watch.Resource{Address: "b", Lane: "x"})
		b.look = func(addr string) (watch.Look, error) {
			if looks[addr]++; addr == "a" && looks[addr] == 1 {
				return gone("")
			}
			return fine("")
		}
		b.repair = func([]string) (map[string]watch.Outcome, error) {
			return map[string]watch.Outcome{"a": watch.Repaired, "b": watch.Failed}, nil
		}
		if b.run(t, watch.Options{MaxRuntime: 10 * time.Minute}); looks["b"] != 2 {
			t.Errorf("b was looked at %d times", looks["b"])
		}
	})
}

// What changes after a repair has looked at its resource, and before that repair has
// ended, is looked at: the event of it is not taken for one of the repair itself.
func TestRun_ChecksWhatChangedWhileARepairEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var is atomic.Bool // as declared
		event := make(chan struct{})
		b := &bench{resource: one(watched), watch: func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			for {
				select {
				case <-event:
					tell(watch.SourceEvent{})
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}}
		b.look = func(addr string) (watch.Look, error) {
			if is.Load() {
				return fine(addr)
			}
			return gone(addr)
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			is.Store(true)
			if len(b.repairs) == 1 {
				is.Store(false) // by somebody else
				event <- struct{}{}
				b.mu.Unlock()
				time.Sleep(100 * time.Millisecond) // the state is written
				b.mu.Lock()
			}
			return all(watch.Repaired)(addrs)
		}
		b.run(t, watch.Options{MaxRuntime: 20 * time.Second})
		if len(b.repairs) != 2 || !is.Load() {
			t.Errorf("repairs: %v, as declared: %t", b.repairs, is.Load())
		}
	})
}

// A repair finds a dependant VALID, which then drifts while the repair still runs: it is not taken as right.
func TestRun_ChecksADependantThatDriftedDuringARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		missing := map[string]bool{"a": true}
		breaks := make(chan struct{})
		b := &bench{watch: func(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			if addr != "b" {
				<-ctx.Done()
				return ctx.Err()
			}
			for {
				select {
				case <-breaks:
					tell(watch.SourceEvent{})
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}}
		b.resource = append(one(watched), one(watched, func(r *watch.Resource) { r.Address = "b" })...)
		b.look = func(addr string) (watch.Look, error) {
			mu.Lock()
			defer mu.Unlock()
			if missing[addr] {
				return gone(addr)
			}
			return fine(addr)
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			mu.Lock()
			for _, addr := range addrs {
				missing[addr] = false
			}
			first := len(b.repairs) == 1
			missing["b"] = first // after the query of the repair
			mu.Unlock()
			outcomes, err := all(watch.Repaired)(addrs)
			if first {
				outcomes["b"] = watch.Right
				breaks <- struct{}{}
				b.mu.Unlock()
				time.Sleep(100 * time.Millisecond) // it is checked meanwhile
				b.mu.Lock()
			}
			return outcomes, err
		}
		b.run(t, watch.Options{MaxRuntime: 20 * time.Second})
		if len(b.repairs) != 2 || missing["b"] {
			t.Errorf("repairs: %v, missing: %v", b.repairs, missing)
		}
	})
}
