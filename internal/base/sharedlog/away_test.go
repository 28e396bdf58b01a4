package sharedlog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/base/sharedlog"
)

// cable is a store behind a network that can be cut.
type cable struct {
	sharedlog.Store
	cut     func() bool
	after   func() // each object that it has created; nil = nothing
	created []string
}

var errCut = errors.New("the network is gone")

func (c *cable) down(ctx context.Context) error {
	if c.cut() {
		return errCut
	}
	return ctx.Err()
}

func (c *cable) Create(ctx context.Context, key string, data []byte) error {
	c.created = append(c.created, key)
	if err := c.down(ctx); err != nil {
		return err
	}
	if c.after != nil {
		defer c.after()
	}
	return c.Store.Create(ctx, key, data)
}

func (c *cable) Get(ctx context.Context, key string) ([]byte, error) {
	if err := c.down(ctx); err != nil {
		return nil, err
	}
	return c.Store.Get(ctx, key)
}

func (c *cable) List(ctx context.Context, prefix string) ([]string, error) {
	if err := c.down(ctx); err != nil {
		return nil, err
	}
	return c.Store.List(ctx, prefix)
}

// Who has waited for a store in vain does not wait for it again, to store what nothing can name.
func TestPut_DoesNotWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := false
		store := &cable{Store: plain{newWorld(1)}, cut: func() bool { return away }}
		claim, err := logIn(store).Open(t.Context(), sharedlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		claim.Abandon() // a sign of life would wait for the append, which a bubble does not understand
		away = true
		begun := time.Now()
		_, err = claim.Append(sharedlog.Entry{Kind: sharedlog.KindAlive})
		if took := time.Since(begun); !errors.Is(err, sharedlog.ErrUnreachable) || took < 10*time.Minute {
			t.Errorf("an append has waited for %s: %v", took, err)
		}
		begun = time.Now()
		_, err = claim.Put(1, []byte("state"), false)
		if took := time.Since(begun); !errors.Is(err, sharedlog.ErrUnreachable) || took > 0 {
			t.Errorf("then a state has waited for %s: %v", took, err)
		}
		if slices.ContainsFunc(store.created, func(key string) bool { return strings.HasPrefix(key, "state/") }) {
			t.Error("it has tried to store a state")
		}
	})
}

// Each says how long it waits itself: who reads is less patient, and so is who was interrupted.
func TestAway_ReportsHowLongItIsWaitedFor(t *testing.T) {
	appends := func(_ *sharedlog.Log, c *sharedlog.Claim) {
		_, _ = c.Append(sharedlog.Entry{Kind: sharedlog.KindAlive})
	}
	reads := func(l *sharedlog.Log, _ *sharedlog.Claim) { _, _ = l.View(context.Background()) }
	for name, c := range map[string]struct {
		want        time.Duration
		interrupted bool
		do          func(*sharedlog.Log, *sharedlog.Claim)
	}{
		"an apply":                      {10 * time.Minute, false, appends},
		"an apply that was interrupted": {5 * time.Second, true, appends},
		"a plan":                        {15 * time.Second, false, reads},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				away := false
				l := logIn(&cable{Store: plain{newWorld(1)}, cut: func() bool { return away }})
				var told []time.Duration
				l.Away = func(_ time.Time, patience time.Duration, err error) { told = append(told, patience) }
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				claim, err := l.Open(ctx, sharedlog.Options{})
				if err != nil {
					t.Fatal(err)
				}
				claim.Abandon()
				if away = true; c.interrupted {
					interrupt()
				}
				begun := time.Now()
				c.do(l, claim)
				if took := time.Since(begun); len(told) != 1 || told[0] != c.want || took < c.want || took > c.want+10*time.Second {
					t.Errorf("told %v, and it took %s", told, took)
				}
			})
		})
	}
}

// A call that its caller has given up, as by an interrupt, does not say that the store is away.
func TestLog_AnInterruptIsNotAnUnreachableStore(t *testing.T) {
	t.Parallel()
	log := logIn(&cable{Store: plain{newWorld(1)}, cut: func() bool { return false }})
	log.Away = func(_ time.Time, _ time.Duration, err error) { t.Errorf("people are told %v", err) }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := log.View(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// Who waits for a log waits for its store too, from the beginning. A holder who was not heard
// of because the store was away is not taken for dead.
func TestOpen_WaitsForAStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := logIn(&cable{Store: plain{newWorld(1)}, cut: func() bool {
			since := time.Since(begun)
			return since > time.Minute/2 && since < 5*time.Minute
		}})
		holder, err := l.Open(t.Context(), sharedlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		holder.Abandon()
		time.Sleep(40 * time.Second)
		if _, err := l.Open(t.Context(), sharedlog.Options{}); !errors.Is(err, sharedlog.ErrUnreachable) {
			t.Errorf("who does not wait is told %v", err)
		}
		if _, err := l.Open(t.Context(), sharedlog.Options{Wait: 2 * time.Minute}); !errors.Is(err, sharedlog.ErrUnreachable) {
			t.Errorf("who waits for less is told %v", err)
		}
		next, err := l.Open(t.Context(), sharedlog.Options{Wait: 30 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 6*time.Minute || took > 7*time.Minute {
			t.Errorf("it was taken over after %s", took)
		}
		next.Abandon()
	})
}
