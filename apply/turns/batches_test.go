package turns

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/runtime/runner"
)

// act joins a batch, records its start if it may, and ends.
func act(b *Batches, group, action string, most int, records bool, leave func()) *runner.Batch {
	one := b.Join(context.Background(), group, action, most, leave)
	if !records {
		one.Withdraw()
		return nil
	}
	request, _ := one.Begin()
	time.Sleep(time.Second) // the action
	one.End(false)
	return request
}

func TestBatches_GathersWhoIsInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, start := NewBatches(), time.Now()
		var wg sync.WaitGroup
		got := make([]*runner.Batch, 10)
		for i := range got {
			leave := b.Enter("g")
			wg.Go(func() {
				time.Sleep(time.Duration(i+1) * 10 * time.Millisecond) // it is queried, while all others have entered
				got[i] = act(b, "g", "install", 100, true, leave)
			})
		}
		wg.Wait()
		for i, r := range got {
			if r == nil || r.Members != 10 || r.ID != got[0].ID {
				t.Errorf("member %d got %+v, want a batch of ten", i, r)
			}
		}
		if took := time.Since(start); took > 1200*time.Millisecond {
			t.Errorf("one batch took %s", took)
		}
	})
}

func TestBatches_WaitsNoLongerThanAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBatches()
		slow := b.Enter("g") // its query takes an hour
		defer slow()
		start := time.Now()
		if r := act(b, "g", "install", 100, true, b.Enter("g")); r != nil {
			t.Errorf("got %+v, want an action alone", r)
		}
		if took := time.Since(start) - time.Second; took > 2*lull {
			t.Errorf("waited for %s", took)
		}
	})
}

func TestBatches_WithdrawnMembersAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBatches()
		var wg sync.WaitGroup
		sizes := make([]int, 6)
		for i := range sizes {
			leave := b.Enter("g")
			wg.Go(func() {
				if r := act(b, "g", "install", 100, i%3 != 0, leave); r != nil {
					sizes[i] = r.Members
				}
			})
		}
		wg.Wait()
		if want := fmt.Sprint([]int{0, 4, 4, 0, 4, 4}); fmt.Sprint(sizes) != want {
			t.Errorf("sizes %v, want %s", sizes, want)
		}
	})
}

// One of the members takes an hour to record its start: a power cut before leaves none that began.
func TestBatches_NoneIsSentBeforeAllAreRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, recorded := NewBatches(), 0
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 5 {
			leave := b.Enter("g")
			wg.Go(func() {
				one := b.Join(context.Background(), "g", "install", 100, leave)
				time.Sleep(time.Duration(i/4) * time.Hour)
				mu.Lock()
				recorded++
				mu.Unlock()
				r, _ := one.Begin()
				mu.Lock()
				if recorded != 5 || r == nil || r.Members != 5 {
					t.Errorf("member %d began as %+v when %d starts were recorded", i, r, recorded)
				}
				mu.Unlock()
				one.End(false)
			})
		}
		wg.Wait()
	})
}

func TestBatches_OneRunsAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBatches()
		var mu sync.Mutex
		running, most, n, actions := map[string]int{}, 0, 0, map[string]string{}
		var wg sync.WaitGroup
		for i := range 40 {
			leave, action := b.Enter("g"), []string{"install", "remove"}[i%2]
			wg.Go(func() {
				one := b.Join(context.Background(), "g", action, 7, leave)
				r, _ := one.Begin()
				id := fmt.Sprint(i)
				if r != nil {
					id = r.ID
				}
				mu.Lock()
				running[id]++
				n++
				most = max(most, len(running))
				if was := actions[id]; was != "" && was != action {
					t.Errorf("a batch has the actions %s and %s", was, action)
				}
				actions[id] = action
				if running[id] > 7 {
					t.Errorf("a batch has %d members, want 7 at the most", running[id])
				}
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				delete(running, id)
				mu.Unlock()
				one.End(false)
			})
		}
		wg.Wait()
		if most != 1 || n != 40 {
			t.Errorf("%d batches ran concurrently, %d actions; want 1 and 40", most, n)
		}
	})
}

func TestBatches_AfterAnUnknownEndEachGoesAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBatches()
		one := b.Join(context.Background(), "g", "install", 100, b.Enter("g"))
		one.Begin()
		one.End(true)
		var wg sync.WaitGroup
		start := time.Now()
		for range 5 {
			leave := b.Enter("g")
			wg.Go(func() {
				if r := act(b, "g", "install", 100, true, leave); r != nil {
					t.Errorf("got %+v, want an action alone", r)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took < 5*time.Second {
			t.Errorf("five actions took %s: they ran in parallel", took)
		}
	})
}

func TestBatches_InterruptedWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBatches()
		first := b.Join(context.Background(), "g", "install", 100, b.Enter("g"))
		first.Begin() // it runs, so no other batch is closed
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if one := b.Join(ctx, "g", "install", 100, b.Enter("g")); one != nil {
			t.Error("an interrupted resource joined")
		}
		first.End(false)
		if r := act(b, "g", "install", 100, true, b.Enter("g")); r != nil {
			t.Errorf("got %+v, want an action alone", r)
		}
	})
}
