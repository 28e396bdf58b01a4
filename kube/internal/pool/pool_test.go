package pool

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A group whose calls wait gets as many Pods as they need: a Pod that starts is no reason for another, and no more
// start at a time than run.
func TestTake_StartsNoMorePodsThanTheGroupNeeds(t *testing.T) {
	const start = 3 * time.Second // of a Pod
	for _, c := range []struct {
		name              string
		calls, most, want int // want: Pods at most
		each              time.Duration
		limit             time.Duration // until all have ended
	}{
		{"short calls that wait for the start", 20, 20, 1, 10 * time.Millisecond, start + time.Second},
		{"calls of a second", 40, 20, 12, time.Second, 21 * time.Second},
		{"long calls", 20, 20, 20, 30 * time.Second, 55 * time.Second},
		{"as many as there may be", 20, 3, 3, 30 * time.Second, 250 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, began := New(c.most, nil), time.Now()
				var mu sync.Mutex // of the counts
				made, starting, running, waited := 0, 0, 0, 0
				done := make(chan bool)
				for range c.calls {
					go func() {
						defer func() { done <- true }()
						m, fresh, err := p.Take(t.Context(), "group", "pod", Process, func(m *Member) {
							if m != nil && m.Why() == "pulling" {
								mu.Lock()
								waited++
								mu.Unlock()
							}
						})
						if err != nil {
							t.Error(err)
							return
						}
						if fresh {
							m.Say(func() string { return "pulling" })
							mu.Lock()
							made++
							starting++
							if running > 0 && starting > running || running == 0 && starting > 1 {
								t.Errorf("%d start beside %d that run", starting, running)
							}
							mu.Unlock()
							time.Sleep(start)
							mu.Lock()
							starting, running = starting-1, running+1
							m.Begin(nil)
							mu.Unlock()
						}
						<-m.Started()
						time.Sleep(c.each)
						p.Leave(m, Process)
					}()
				}
				for range c.calls {
					<-done
				}
				if took := time.Since(began); made > c.want || took > c.limit || waited == 0 {
					t.Errorf("%d Pods, after %s, %d reports of the start", made, took, waited)
				}
			})
		})
	}
}

// Requests of which some always wait get further Pods, although each waits for less: a worker answers one at a time.
func TestTake_CountsRequestsThatWaitTogether(t *testing.T) {
	const (
		start  = 3 * time.Second // of a Pod
		atOnce = 80              // requests of a command
		each   = 7 * time.Millisecond
	)
	for requests, c := range map[int]struct {
		pods  int
		limit time.Duration
	}{
		100:  {1, start + 100*each + each},
		400:  {1, start + 400*each + each},
		3000: {4, 17 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, began := New(20, nil), time.Now()
			var made atomic.Int32
			var answering sync.Map // a channel of one place by Pod: its worker
			todo, done := make(chan bool, requests), make(chan bool)
			for range requests {
				todo <- true
			}
			close(todo)
			for range atOnce {
				go func() {
					defer func() { done <- true }()
					for range todo {
						m, fresh, err := p.Take(t.Context(), "group", "pod", Request, func(*Member) {})
						if err != nil {
							t.Error(err)
							return
						}
						if fresh {
							made.Add(1)
							answering.Store(m, make(chan bool, 1))
							time.Sleep(start)
							m.Begin(nil)
						}
						<-m.Started()
						worker, _ := answering.Load(m)
						worker.(chan bool) <- true
						time.Sleep(each)
						<-worker.(chan bool)
						p.Leave(m, Request)
					}
				}()
			}
			for range atOnce {
				<-done
			}
			if took := time.Since(began); int(made.Load()) != c.pods || took > c.limit {
				t.Errorf("%d requests: %d Pods, after %s", requests, made.Load(), took)
			}
		})
	}
}
