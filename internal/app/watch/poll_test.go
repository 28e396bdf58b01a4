package watch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/watch"
)

// A poll that the manifest has changed counts from the reload on, also where nothing was
// looked at by time before. One that stays is not put off by reloads.
func TestRun_TakesOverAnotherPoll(t *testing.T) {
	every := func(d time.Duration) func(*watch.Resource) {
		return func(r *watch.Resource) { r.Poll, r.Alone = d, d }
	}
	for name, c := range map[string]struct {
		was, is     time.Duration
		least, most int // looks in the four hours after the reload
	}{
		"there was none":    {0, time.Minute, 200, 280},
		"it was longer":     {24 * time.Hour, time.Minute, 200, 280},
		"it was shorter":    {time.Minute, 24 * time.Hour, 0, 0},
		"there is none now": {time.Minute, 0, 0, 0},
		"it stays":          {2 * time.Hour, 2 * time.Hour, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bench{look: fine, repair: all(watch.Right), resource: one(every(c.was))}
				next := b.generation()
				next.Resources = one(every(c.is))
				b.run(t, watch.Options{MaxRuntime: 5 * time.Hour}, next, next, next)
				late := 0
				for _, at := range b.looks {
					if at > time.Hour+3*time.Second {
						late++
					}
				}
				if late < c.least || late > c.most {
					t.Errorf("%d looks after the reload, want %d to %d", late, c.least, c.most)
				}
			})
		})
	}
}
