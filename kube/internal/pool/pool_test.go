package pool

import (
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
				made, starting, running, waited := 0, 0, 0, 0
				done := make(chan bool)
				for range c.calls {
					go func() {
						defer func() { done <- true }()
						m, fresh, err := p.Take(t.Context(), "group", "pod", Process, func(m *Member) {
							if m != nil && m.Why() == "pulling" {
								waited++
							}
						})
						if err != nil {
							t.Error(err)
							return
						}
						if fresh {
							m.Say(func() string { return "pulling" })
							made++
							starting++
							if running > 0 && starting > running || running == 0 && starting > 1 {
								t.Errorf("%d start beside %d that run", starting, running)
							}
							time.Sleep(start)
							starting, running = starting-1, running+1
							m.Begin(nil)
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
