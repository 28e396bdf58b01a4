package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// bench is a world for one rule: what it answers is set by the test.
type bench struct {
	mu       sync.Mutex // guards what follows
	look     func(addr string) (watch.Look, error)
	repair   func(addrs []string) (map[string]watch.Outcome, error)
	watch    func(ctx context.Context, addr string, tell func(watch.SourceEvent)) error
	looks    []time.Duration // since the epoch
	repairs  []time.Duration
	told     []watch.Event
	hangs    string
	begun    map[string]int
	resource []watch.Resource
}

func (b *bench) Look(ctx context.Context, addr string) (watch.Look, error) {
	b.mu.Lock()
	b.looks = append(b.looks, time.Since(epoch))
	hangs := addr == b.hangs
	b.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return watch.Look{}, ctx.Err()
	}
	return b.look(addr)
}

func (b *bench) Repair(_ context.Context, addrs []string) (map[string]watch.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.repairs = append(b.repairs, time.Since(epoch))
	return b.repair(addrs)
}

func (b *bench) Watch(ctx context.Context, addr string, tell func(watch.SourceEvent)) error {
	b.mu.Lock()
	if b.begun == nil {
		b.begun = map[string]int{}
	}
	b.begun[addr]++
	b.mu.Unlock()
	return b.watch(ctx, addr, tell)
}

func (b *bench) generation() watch.Generation {
	g := watch.Generation{Resources: b.resource, Looker: b, Repairer: b, Source: b, Places: map[string]int{}}
	return g
}

// run watches until the end, and gives when that was.
func (b *bench) run(t *testing.T, o watch.Options, later ...watch.Generation) (watch.End, watch.Counts, time.Duration) {
	t.Helper()
	generations := make(chan watch.Generation)
	done := make(chan struct{})
	go func() {
		generations <- b.generation()
		for _, g := range later {
			select {
			case <-time.After(time.Hour + 2*time.Second):
			case <-done:
				return
			}
			generations <- g
		}
	}()
	end, counts := watch.Run(t.Context(), o, generations, func(what watch.Event) { b.told = append(b.told, what) })
	close(done)
	return end, counts, time.Since(epoch)
}

func fine(string) (watch.Look, error) { return watch.Look{Status: drift.None}, nil }

func gone(string) (watch.Look, error) {
	return watch.Look{Status: drift.Gone, Reason: "it is gone"}, nil
}

func all(o watch.Outcome) func([]string) (map[string]watch.Outcome, error) {
	return func(addrs []string) (map[string]watch.Outcome, error) {
		outcomes := map[string]watch.Outcome{}
		for _, addr := range addrs {
			outcomes[addr] = o
		}
		return outcomes, nil
	}
}

// count says how often something of a kind was told.
func count[T watch.Event](b *bench) (n int) {
	for _, what := range b.told {
		if _, ok := what.(T); ok {
			n++
		}
	}
	return n
}

func one(change ...func(*watch.Resource)) []watch.Resource {
	r := watch.Resource{Address: "a", Lane: "x", Poll: time.Hour, Alone: time.Minute, Repair: true}
	for _, c := range change {
		c(&r)
	}
	return []watch.Resource{r}
}

func watched(r *watch.Resource) { r.Watched = true }

// Polls that find nothing do not keep it from having converged; it ends to the
// moment.
func TestRun_Converges(t *testing.T) {
	for name, c := range map[string]struct {
		events func(tell func(watch.SourceEvent))
		want   time.Duration
	}{
		"after the first look": {func(func(watch.SourceEvent)) {}, 5 * time.Minute},
		"after an event": {func(tell func(watch.SourceEvent)) {
			tell(watch.SourceEvent{First: true})
			time.Sleep(2 * time.Minute)
			tell(watch.SourceEvent{})
		}, 7 * time.Minute},
		"after work": {func(tell func(watch.SourceEvent)) {
			busy := true
			tell(watch.SourceEvent{First: true, Busy: &busy})
			time.Sleep(20 * time.Minute)
			tell(watch.SourceEvent{Busy: new(bool)})
		}, 25 * time.Minute},
		"after work whose process ended": {func(tell func(watch.SourceEvent)) {
			if time.Since(epoch) < time.Minute {
				busy := true
				tell(watch.SourceEvent{First: true, Busy: &busy})
				time.Sleep(9 * time.Minute)
				panic("ended")
			}
		}, 14 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bench{look: fine, resource: one(watched), watch: func(ctx context.Context, _ string, tell func(watch.SourceEvent)) (err error) {
					defer func() {
						if recover() != nil {
							err = errors.New("ended")
						}
					}()
					c.events(tell)
					<-ctx.Done()
					return nil
				}}
				end, counts, at := b.run(t, watch.Options{Converged: 5 * time.Minute, MaxRuntime: time.Hour})
				if end != watch.Converged || counts.Open != 0 || at != c.want {
					t.Errorf("it ended (%s) after %s, with %+v; want %s", end, at, counts, c.want)
				}
			})
		})
	}
}

// A repair that fails is tried again, later each time, and never given up.
func TestRun_HoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, repair: all(watch.Failed), resource: one()}
		if end, counts, _ := b.run(t, watch.Options{MaxRuntime: 3 * time.Hour}); end != watch.Over || counts.Drifted != 1 {
			t.Errorf("it ended: %s, with %+v", end, counts)
		}
		var waits []time.Duration
		for i := range b.repairs[1:] {
			waits = append(waits, (b.repairs[i+1] - b.repairs[i]).Round(time.Second))
		}
		want := []time.Duration{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}
		for i := range want {
			if i >= len(waits) || waits[i] != want[i]*time.Second {
				t.Fatalf("the repairs waited %v", waits)
			}
		}
	})
}

// What drifts as often as it is repaired is told of once.
func TestRun_ReportsFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, repair: all(watch.Repaired), resource: one()}
		b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := count[watch.Flapping](b); n != 1 {
			t.Errorf("it was told %d times, of %d repairs", n, len(b.repairs))
		}
	})
}

// What nobody approved is told once, and asked for again after ten minutes.
func TestRun_NotApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, repair: all(watch.NotApproved), resource: one()}
		b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := count[watch.Unapproved](b); n != 1 || len(b.repairs) < 4 || len(b.repairs) > 6 {
			t.Errorf("it was told %d times, and tried %v", n, b.repairs)
		}
	})
}

// What was not approved because of what is repaired with it is tried again when that is done.
func TestRun_NotApproved_BecauseOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, resource: append(one(), watch.Resource{Address: "b", Lane: "x", Poll: time.Hour, Alone: time.Minute, Repair: true})}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			outcomes, err := all(watch.Repaired)(addrs)
			if len(addrs) > 1 {
				outcomes["b"] = watch.NotApproved
			}
			return outcomes, err
		}
		_, counts, _ := b.run(t, watch.Options{MaxRuntime: 30 * time.Second})
		if told := count[watch.Unapproved](b); len(b.repairs) != 2 || b.repairs[1]-b.repairs[0] > 2*time.Second || told != 0 {
			t.Errorf("repairs at %v, %d told to be not approved: %+v", b.repairs, told, counts)
		}
	})
}

// What was not approved is tried again as soon as something else is right again, whoever has
// done that.
func TestRun_NotApproved_UntilAnotherIsRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mended = 90 * time.Second
		b := &bench{resource: append(one(), watch.Resource{Address: "b", Lane: "x", Poll: time.Hour, Alone: time.Hour, Repair: true})}
		b.resource[0].Repair = false // somebody mends it
		done := time.Duration(0)
		b.look = func(addr string) (watch.Look, error) {
			if now := time.Since(epoch); addr == "a" && now > mended || done > 0 {
				return fine(addr)
			}
			return gone(addr)
		}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			if now := time.Since(epoch); now > mended {
				done = now
				return all(watch.Repaired)(addrs)
			}
			return all(watch.NotApproved)(addrs)
		}
		b.run(t, watch.Options{MaxRuntime: 5 * time.Minute})
		if told := count[watch.Unapproved](b); done < mended || done > mended+time.Minute+5*time.Second || told != 1 {
			t.Errorf("looks at %v, repairs at %v, %d told to be not approved", b.looks, b.repairs, told)
		}
	})
}

// What is not approved is nothing that will be done.
func TestRun_NotApproved_Converges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, repair: all(watch.NotApproved), resource: one()}
		end, counts, at := b.run(t, watch.Options{Converged: 30 * time.Second, MaxRuntime: time.Hour})
		if end != watch.Converged || counts.Drifted != 1 || at > time.Minute {
			t.Errorf("it ended (%s) after %s with %+v", end, at, counts)
		}
	})
}

// A state that somebody else has changed is left alone until it was read again.
func TestRun_Elsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: gone, resource: one()}
		b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
			if time.Since(epoch) < time.Hour+2*time.Second {
				return nil, watch.ErrElsewhere
			}
			return all(watch.NotApproved)(addrs)
		}
		b.run(t, watch.Options{MaxRuntime: time.Hour + 3*time.Second}, b.generation())
		if len(b.repairs) < 50 || len(b.repairs) > 62 || count[watch.Refused](b) != 0 {
			t.Errorf("%d repairs were begun, and told: %d", len(b.repairs), count[watch.Refused](b))
		}
		if last := b.repairs[len(b.repairs)-1]; last < time.Hour+2*time.Second {
			t.Errorf("the new generation came after 1h0m2s, and the last repair after %s", last)
		}
	})
}

// Events that tell of nothing are told of once, and followed every ten seconds.
func TestRun_Noise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(watched), watch: func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			for ctx.Err() == nil {
				tell(watch.SourceEvent{})
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		}}
		b.run(t, watch.Options{MaxRuntime: 10 * time.Minute})
		if n := len(b.looks); n < 70 || n > 90 || count[watch.Noisy](b) != 1 {
			t.Errorf("%d looks; told %d times", n, count[watch.Noisy](b))
		}
	})
}

// What happens while a look runs is looked at by another one.
func TestRun_EventDuringACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{resource: one(watched), repair: all(watch.Repaired)}
		b.look = func(string) (watch.Look, error) {
			began := time.Since(epoch)
			time.Sleep(30 * time.Second)
			if began > 5*time.Second {
				return gone("")
			}
			return fine("")
		}
		b.watch = func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			time.Sleep(10 * time.Second) // the first look runs
			tell(watch.SourceEvent{})
			<-ctx.Done()
			return nil
		}
		if b.run(t, watch.Options{MaxRuntime: 2 * time.Minute}); len(b.repairs) != 1 {
			t.Errorf("looks at %v, repairs at %v", b.looks, b.repairs)
		}
	})
}

// What cannot be asked is asked later each time, whatever events there are.
func TestRun_CannotBeQueried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{resource: one(watched), look: func(string) (watch.Look, error) { return watch.Look{}, errors.New("it does not answer") }}
		b.watch = func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			for ctx.Err() == nil {
				tell(watch.SourceEvent{})
				time.Sleep(time.Second)
			}
			return nil
		}
		_, counts, _ := b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := len(b.looks); n < 9 || n > 16 || counts.Failed != 1 || count[watch.Finding](b) != 1 {
			t.Errorf("%d looks, %+v, told %v", n, counts, b.told)
		}
	})
}

// A type that hangs keeps nobody else from being looked at.
func TestRun_Lanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(), hangs: "a"}
		b.resource = append(b.resource, watch.Resource{Address: "b", Lane: "y", Alone: time.Minute}, watch.Resource{Address: "c", Lane: "x", Alone: time.Minute})
		b.run(t, watch.Options{MaxRuntime: time.Hour})
		if n := len(b.looks); n < 50 || n > 70 {
			t.Errorf("%d looks", n)
		}
	})
}

// A look that does not end when its time is up is told of once, and counts as failed. When
// nothing else is left nobody is told any more that all goes on; while others are looked at it
// is. One that nobody has set a time to, and one that has not had its time, hang not.
func TestRun_HangsAreNotLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			longest, alive time.Duration
			others         bool
			hangs          int
		}{
			{30 * time.Minute, 30 * time.Minute, false, 1},
			{30 * time.Minute, time.Hour, true, 1},
			{0, time.Hour, false, 0},
			{2 * time.Hour, time.Hour, false, 0},
		} {
			b := &bench{look: fine, resource: one(func(r *watch.Resource) { r.Longest = c.longest }), hangs: "a"}
			if c.others {
				b.resource = append(b.resource, watch.Resource{Address: "b", Lane: "y", Alone: time.Minute, Longest: time.Minute})
			}
			began, last := time.Now(), time.Duration(0)
			_, counts, _ := b.run(t, watch.Options{MaxRuntime: time.Hour, Alive: func() { last = time.Since(began) }})
			if last < c.alive-20*time.Second || last > c.alive || count[watch.Hanging](b) != c.hangs || counts.Failed != c.hangs {
				t.Errorf("%+v: the last life after %s, told %d times, %+v", c, last, count[watch.Hanging](b), counts)
			}
		}
	})
}

// Looks that start a container are few at one time, in all lanes together. One that hangs
// gives its place to others after a while, and waiting for a place counts as no hanging.
func TestRun_ContainersShareTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, at, most := &bench{}, 0, 0
		for i := range 6 {
			b.resource = append(b.resource, watch.Resource{Address: fmt.Sprint("r", i), Lane: fmt.Sprint("l", i), Alone: time.Minute, Cold: true,
				Longest: 20 * time.Second})
		}
		looks := map[string]int{}
		b.look = func(addr string) (watch.Look, error) {
			b.mu.Lock()
			looks[addr]++
			stuck := addr == "r0" || addr == "r1"
			if !stuck {
				at++
				most = max(most, at)
			}
			b.mu.Unlock()
			if time.Sleep(2 * time.Second); stuck {
				time.Sleep(10 * time.Minute)
				return watch.Look{}, errors.New("its time is up")
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			at--
			return fine("")
		}
		g := b.generation()
		g.Cold = 2
		generations := make(chan watch.Generation, 1)
		generations <- g
		watch.Run(t.Context(), watch.Options{MaxRuntime: time.Hour}, generations, func(what watch.Event) { b.told = append(b.told, what) })
		if most != 2 || looks["r2"] < 50 || looks["r5"] < 50 {
			t.Errorf("%d concurrently; looks: %v", most, looks)
		}
		for _, what := range b.told {
			if h, ok := what.(watch.Hanging); ok && h.Address != "r0" && h.Address != "r1" {
				t.Errorf("told %+v", h)
			}
		}
	})
}

// What is done beside is waited for: it neither converges meanwhile nor is over.
func TestRun_WaitsForWhatIsDoneMeanwhile(t *testing.T) {
	for want, o := range map[watch.End]watch.Options{watch.Over: {MaxRuntime: time.Hour}, watch.Converged: {Converged: 10 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{look: fine, resource: one()}
			o.Busy = func() bool { return time.Since(epoch) < 2*time.Hour }
			if end, _, at := b.run(t, o); end != want || at < 2*time.Hour || at > 2*time.Hour+10*time.Minute {
				t.Errorf("it ended (%s) after %s", end, at)
			}
		})
	}
}

// What is the same in a new generation goes on: nothing is started anew or looked
// at. What differs is.
func TestRun_Reload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(watched, func(r *watch.Resource) { r.Poll = 0 })}
		b.watch = func(ctx context.Context, _ string, tell func(watch.SourceEvent)) error {
			tell(watch.SourceEvent{First: true})
			<-ctx.Done()
			return nil
		}
		other := b.generation()
		other.Resources = slices.Concat(one(watched, func(r *watch.Resource) { r.Poll = 0 }),
			[]watch.Resource{{Address: "b", Lane: "x", Watched: true}})
		changed := other
		changed.Resources = one(watched, func(r *watch.Resource) { r.Request = "changed" })
		_, counts, _ := b.run(t, watch.Options{MaxRuntime: 2*time.Hour + time.Minute}, other, changed)
		if b.begun["a"] != 2 || b.begun["b"] != 1 || counts.Resources != 1 || counts.ByEvents != 1 || count[watch.Loaded](b) != 3 {
			t.Errorf("begun %v, %+v, told %d generations", b.begun, counts, count[watch.Loaded](b))
		}
		if n := len(b.looks); n != 6 { // each at the start and with its first line
			t.Errorf("looks at %v", b.looks)
		}
	})
}

// A state that is not as recorded is recorded, where that is wanted.
func TestRun_Differs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{resource: one(), repair: all(watch.Right)}
		b.look = func(string) (watch.Look, error) {
			return watch.Look{Status: drift.None, Differs: time.Since(epoch) < time.Second}, nil
		}
		if b.run(t, watch.Options{MaxRuntime: time.Hour}); len(b.repairs) != 1 {
			t.Errorf("the repairs were at %v", b.repairs)
		}
	})
}

// All ends when it is told to, also what hangs.
func TestRun_Stops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{look: fine, resource: one(watched), hangs: "a"}
		b.watch = func(ctx context.Context, _ string, _ func(watch.SourceEvent)) error { <-ctx.Done(); return nil }
		generations := make(chan watch.Generation, 1)
		generations <- b.generation()
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		end, counts := watch.Run(ctx, watch.Options{}, generations, func(watch.Event) {})
		if at := time.Since(epoch); end != watch.Stopped || at != time.Minute || counts.Failed != 0 {
			t.Errorf("it ended (%s) after %s with %+v", end, at, counts)
		}
	})
}

// A repair for which others wait longer than a minute is told once; one for which nobody
// waits is not.
func TestRun_ReportsASlowRepair(t *testing.T) {
	for _, others := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{resource: one()}
			b.resource = append(b.resource, watch.Resource{Address: "b", Lane: "y", Alone: time.Minute, Repair: others})
			b.look = func(addr string) (watch.Look, error) {
				if addr == "b" && time.Since(epoch) < 30*time.Second {
					return watch.Look{Status: drift.None}, nil
				}
				return watch.Look{Status: drift.Gone}, nil
			}
			b.repair = func(addrs []string) (map[string]watch.Outcome, error) {
				if slices.Contains(addrs, "a") {
					b.mu.Unlock() // others look meanwhile
					time.Sleep(5 * time.Minute)
					b.mu.Lock()
				}
				return all(watch.Right)(addrs)
			}
			b.run(t, watch.Options{MaxRuntime: 4 * time.Minute})
			n := count[watch.Slow](b)
			if others != (n == 1) || n > 1 {
				t.Errorf("others wait: %v, and it was told %d times", others, n)
			}
			for _, told := range b.told {
				if s, ok := told.(watch.Slow); ok && (s.Waiting != 1 || !slices.Equal(s.Resources, []string{"a"}) || s.Since < time.Minute) {
					t.Errorf("told %+v", s)
				}
			}
		})
	}
}
