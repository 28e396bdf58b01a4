package sharedlog_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/base/sharedlog"
)

// logIn returns the log in a store, with the clock of a test in testing/synctest.
func logIn(s sharedlog.Store) *sharedlog.Log {
	l := sharedlog.New(s, sharedlog.DefaultTiming())
	l.Clock = bubble{}
	return l
}

// A watch tries every 5 s and never waits: what its tries have seen counts together.
func TestOpen_TriesThatDoNotWaitTakeOver(t *testing.T) {
	for name, c := range map[string]struct {
		lives time.Duration // of the holder, after the first try
		after time.Duration // from the first try until it is taken over
	}{
		"of a holder that is dead":      {0, 60 * time.Second},
		"of one that dies meanwhile":    {40 * time.Second, 90 * time.Second},
		"of one that lives: not at all": {time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := plain{newWorld(1)}
				holder, err := logIn(store).Open(t.Context(), sharedlog.Options{})
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(c.lives, holder.Abandon)
				watch, took := logIn(store), time.Duration(0)
				for now := time.Duration(0); now < 10*time.Minute; now += 5 * time.Second {
					synctest.Wait()
					claim, err := watch.Open(t.Context(), sharedlog.Options{})
					if err == nil {
						took = now
						claim.Abandon()
						break
					}
					if !errors.Is(err, sharedlog.ErrHeld) {
						t.Fatal(err)
					}
					time.Sleep(5 * time.Second)
				}
				holder.Abandon()
				if took != c.after {
					t.Errorf("it was taken over after %s, want %s", took, c.after)
				}
			})
		})
	}
}

// An open that is interrupted, or whose answer is followed by a fault, holds the log for nobody:
// it is let go of, or it is said that it may be held.
func TestOpen_InVainIsGivenBack(t *testing.T) {
	for name, c := range map[string]struct {
		interrupt bool
		away      time.Duration // after the entry was created
		left      bool
	}{
		"interrupted":            {true, 0, false},
		"the store is away long": {false, time.Hour, true},
		"and comes back":         {false, 18 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := plain{newWorld(1)}
				created := time.Time{}
				store := &cable{Store: w, cut: func() bool { return !created.IsZero() && time.Since(created) < c.away }}
				store.after = func() {
					if created.IsZero() {
						created = time.Now()
					}
					if c.interrupt {
						cancel()
					}
				}
				l := logIn(store)
				_, err := l.Open(ctx, sharedlog.Options{})
				var left *sharedlog.LeftError
				if err == nil || errors.As(err, &left) != c.left || c.interrupt != errors.Is(err, context.Canceled) {
					t.Errorf("it is told %v", err)
				}
				if v, err := logIn(w).View(t.Context()); err != nil || v.Tip.N == 0 || v.Held() != c.left {
					t.Errorf("the log ends with %+v: %v", v.Tip, err)
				}
			})
		})
	}
}

// counting is a store that counts what is read.
type counting struct {
	sharedlog.Store
	reads *atomic.Int64
}

func (s counting) Get(ctx context.Context, key string) ([]byte, error) {
	s.reads.Add(1)
	return s.Store.Get(ctx, key)
}

// Who waits reads what is new at each look, and has read it all in the end.
func TestOpen_ReadsEntriesOnceWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := plain{newWorld(1)}
		holder, err := logIn(store).Open(t.Context(), sharedlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		holder.Abandon()
		record := func(n int) {
			for range n {
				if _, err := holder.Append(sharedlog.Entry{Kind: sharedlog.KindJournal, Run: "r", Body: []byte("record\n")}); err != nil {
					t.Error(err)
				}
			}
		}
		record(200)
		go func() {
			for range 20 {
				time.Sleep(30 * time.Second)
				record(1)
			}
		}()
		var reads atomic.Int64
		next, err := logIn(counting{store, &reads}).Open(t.Context(), sharedlog.Options{Wait: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		next.Abandon()
		v := next.View()
		if text := string(v.Journal); strings.Count(text, "record\n") != 220 || v.Run != "r" || next.Took() != holder.ID() {
			t.Errorf("it has read %q of %s, and took over %s", text, v.Run, next.Took())
		}
		// All twice, at the first look and after it was opened; the tip at each look in eleven minutes.
		if reads.Load() > 2*225+200 {
			t.Errorf("it has read %d objects", reads.Load())
		}
	})
}
