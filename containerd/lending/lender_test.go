package lending

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const start = 100 * time.Millisecond // how long making one takes here

// shop makes numbered things for a Lender, in fake time.
type shop struct {
	*Lender[int]
	t *testing.T

	mu     sync.Mutex
	kept   int // that are not taken yet
	broken bool
	made   int // with those that were kept
	begun  int // that had to be made
}

func open(t *testing.T, processors int) *shop { return expecting(t, processors, 0) }

// expecting opens a shop that expects so many borrowers.
func expecting(t *testing.T, processors, coming int) *shop {
	s := &shop{t: t}
	s.Lender = New[int](Terms{Most: 8, Processors: processors, Losses: 3, Takes: start, Patience: start / 2, Coming: coming, Worth: 40,
		Go: func(do func()) { go do() }})
	return s
}

// make is a Maker.
func (s *shop) make(keptOnly bool) (int, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.kept > 0:
		s.kept--
		s.made++
		return s.made, true, nil
	case keptOnly:
		return 0, false, ErrNone
	}
	s.begun++
	s.mu.Unlock()
	time.Sleep(start)
	s.mu.Lock()
	if s.broken {
		return 0, false, errors.New("broken")
	}
	s.made++
	return s.made, false, nil
}

// work uses things for a time each, for so many borrowers at a time, and returns how long all took.
func (s *shop) work(borrowers, times int, each time.Duration) time.Duration {
	began := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	used := map[int]bool{}
	for range borrowers {
		wg.Go(func() {
			for range times {
				thing, ok := s.Borrow(context.Background(), s.make)
				if !ok {
					s.t.Error("nothing was lent")
					return
				}
				mu.Lock()
				if used[thing] {
					s.t.Error("a thing has two borrowers")
				}
				used[thing] = true
				mu.Unlock()
				time.Sleep(each)
				mu.Lock()
				used[thing] = false
				mu.Unlock()
				s.Return(thing)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	synctest.Wait()
	return took
}

// Those that are worth their making are made together with the first, as long as there are processors.
func TestLender_MakesWhatIsExpectedAtOnce(t *testing.T) {
	const each = start / 100
	for _, c := range []struct {
		name                          string
		processors, kept, coming, all int
		begun                         int
		took                          time.Duration
	}{
		{"not enough for two", 2, 0, 70, 70, 1, start + 70*each},
		{"enough for two", 2, 0, 80, 80, 2, start + 40*each},
		{"enough for two, one processor", 1, 0, 80, 80, 1, start + 80*each},
		{"enough for three", 8, 0, 120, 120, 3, start + 40*each},
		{"fewer come than were expected", 2, 0, 80, 10, 2, start + 5*each},
		{"what was kept is taken", 2, 2, 80, 80, 0, 40 * each},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := expecting(t, c.processors, c.coming)
				s.kept = c.kept
				if took := s.work(10, c.all/10, each); s.begun != c.begun || took != c.took {
					t.Errorf("%d were made, in %s; want %d, in %s", s.begun, took, c.begun, c.took)
				}
			})
		})
	}
}

// What has come is not expected any more.
func TestLender_CountsWhoHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := expecting(t, 2, 80)
		for range 20 { // one at a time: nobody waits for another one
			s.work(1, 1, start/100)
		}
		if s.work(10, 1, start/100); s.begun != 1 {
			t.Errorf("%d were made", s.begun)
		}
	})
}

func TestLender_MakesAnotherWhenWaitsHaveTakenAsLong(t *testing.T) {
	for _, c := range []struct {
		name                               string
		processors, kept, borrowers, times int
		each                               time.Duration
		begun                              int
		least, most                        time.Duration
	}{
		{"little work: one", 2, 0, 10, 1, start / 25, 1, start, 2 * start},
		{"much work: as many as processors", 2, 0, 10, 20, start / 25, 2, 5 * start, 7 * start},
		{"much work, one processor", 1, 0, 10, 20, start / 25, 1, 9 * start, 10 * start},
		{"long waits: as many as borrowers", 1, 0, 4, 3, 20 * start, 4, 60 * start, 71 * start},
		{"all that were kept are taken at once", 2, 2, 10, 1, start / 25, 0, 0, start / 3},
		{"and another one only when waits have taken as long", 2, 1, 10, 1, start / 25, 0, 0, start},
		{"one that was kept, and much work: as many as processors", 2, 1, 10, 20, start / 25, 1, 4 * start, 7 * start},
		{"nobody waits", 2, 0, 1, 50, start, 1, 51 * start, 51 * start},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, c.processors)
				s.kept = c.kept
				if took := s.work(c.borrowers, c.times, c.each); s.begun != c.begun || took < c.least || took > c.most {
					t.Errorf("%d were made, in %s; want %d, in %s to %s", s.begun, took, c.begun, c.least, c.most)
				}
				if left := s.Take(); len(left) != s.made {
					t.Errorf("%d of %d came back", len(left), s.made)
				}
			})
		})
	}
}

// Waits count together: bursts that are over before another one could be made lead to one in the end.
func TestLender_CountsAllWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 2)
		for range 5 {
			s.work(10, 1, start/25)
			time.Sleep(time.Minute)
		}
		if s.begun != 2 {
			t.Errorf("%d were made", s.begun)
		}
	})
}

func TestLender_ServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1)
		thing, _ := s.Borrow(context.Background(), s.make)
		var served []int
		for i := range 5 {
			go func() {
				thing, _ := s.Borrow(context.Background(), s.make)
				served = append(served, i)
				s.Return(thing)
			}()
			time.Sleep(start / 20)
		}
		time.Sleep(start / 20) // less than it would take to make another one
		s.Return(thing)
		synctest.Wait()
		if !slices.Equal(served, []int{0, 1, 2, 3, 4}) {
			t.Errorf("served: %v", served)
		}
		time.Sleep(time.Second)
	})
}

// A failure is shown by one borrower's own attempt; the others get what is made next.
func TestLender_Failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 2)
		s.broken = true
		var mu sync.Mutex
		got := map[bool]int{}
		for range 10 {
			go func() {
				_, ok := s.Borrow(context.Background(), s.make)
				mu.Lock()
				defer mu.Unlock()
				got[ok]++
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.begun != 3 || got[false] != 10 {
			t.Errorf("%d were made, %v", s.begun, got)
		}
		if _, ok := s.Borrow(context.Background(), s.make); ok || s.begun != 3 {
			t.Error("another one was made")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 2)
		for range 3 {
			if _, ok := s.Borrow(context.Background(), s.make); !ok {
				t.Error("nothing was lent")
			}
			s.Drop(true)
		}
		if _, ok := s.Borrow(context.Background(), s.make); ok {
			t.Error("it was lent after so many losses")
		}
	})
	synctest.Test(t, func(t *testing.T) { // one failure, for one of them
		s := open(t, 2)
		s.broken = true
		got := make(chan bool, 10)
		for range 10 {
			go func() {
				thing, ok := s.Borrow(context.Background(), s.make)
				if got <- ok; ok {
					s.Return(thing)
				}
			}()
		}
		time.Sleep(start + 1)
		s.mu.Lock()
		s.broken = false
		s.mu.Unlock()
		time.Sleep(time.Minute)
		failed := 0
		for range 10 {
			if !<-got {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d got nothing", failed)
		}
	})
}

// After too many losses nothing is made for callers that wait, and a later caller does not wait for what is lent.
func TestLender_EndsAfterLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 4)
		for range 4 {
			if _, ok := s.Borrow(context.Background(), s.make); !ok {
				t.Fatal("nothing was lent")
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), start/4) // nothing is made for a wait as short as that
		defer cancel()
		waited := make(chan bool, 1)
		go func() {
			_, ok := s.Borrow(context.Background(), s.make)
			waited <- ok
		}()
		synctest.Wait()
		for range 3 {
			s.Drop(true)
		}
		began := time.Now()
		if _, ok := s.Borrow(ctx, s.make); ok || time.Since(began) > 0 {
			t.Errorf("after so many losses somebody waited for %s", time.Since(began))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.begun != 4 {
			t.Errorf("%d were made", s.begun)
		}
		s.Drop(false)
		if <-waited {
			t.Error("who waited was lent something")
		}
	})
}

// Who waits when the last one is dropped gets a new one.
func TestLender_ReplacesTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 2)
		if _, ok := s.Borrow(context.Background(), s.make); !ok {
			t.Fatal("nothing was lent")
		}
		got := 0
		go func() { got, _ = s.Borrow(context.Background(), s.make) }()
		synctest.Wait()
		s.Drop(false)
		time.Sleep(start + 1)
		synctest.Wait()
		if got != 2 {
			t.Errorf("lent: %d", got)
		}
	})
}

// What is made for somebody who has left is lent to others.
func TestLender_WhoLeavesLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 2)
		ctx, cancel := context.WithTimeout(context.Background(), start/2)
		defer cancel()
		if _, ok := s.Borrow(ctx, s.make); ok || ctx.Err() == nil {
			t.Error("it was lent at once")
		}
		time.Sleep(start)
		synctest.Wait()
		began := time.Now()
		if thing, ok := s.Borrow(context.Background(), s.make); !ok || thing != 1 || time.Since(began) != 0 {
			t.Errorf("got %d, %v after %s", thing, ok, time.Since(began))
		}
	})
}

// Who leaves in the moment when it is served has the thing, and can return it.
func TestLender_WhoLeavesWhenServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1)
		thing, _ := s.Borrow(context.Background(), s.make)
		for range 50 { // it wakes up before, or after
			ctx, cancel := context.WithCancel(context.Background())
			got := make(chan bool)
			go func() {
				_, ok := s.Borrow(ctx, s.make)
				got <- ok
			}()
			synctest.Wait()
			cancel()
			s.Return(thing)
			if !<-got { // it has left before
				if again, ok := s.Borrow(context.Background(), s.make); !ok || again != thing {
					t.Fatalf("it was lent to nobody: another one, %d, was made", again)
				}
			}
		}
		s.Return(thing)
	})
}

func TestLender_TakesAllThatIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1)
		thing, _ := s.Borrow(context.Background(), s.make)
		s.Return(thing)
		if got, more := s.Take(), s.Take(); !slices.Equal(got, []int{thing}) || len(more) > 0 {
			t.Errorf("took %v, then %v", got, more)
		}
	})
}

func TestLender_MakesNoMoreThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, 1)
		if s.work(20, 1, 100*start); s.begun != 8 {
			t.Errorf("%d were made", s.begun)
		}
	})
}
