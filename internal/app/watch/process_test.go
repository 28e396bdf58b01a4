package watch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// Why a process has ended decides when the next one is tried, and what is told of it.
func TestProcess_BeginsAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err         error
		least, most int // starts within an hour
		told        int
	}{
		"a failure":          {errors.New("no such disk"), 15, 25, 15},
		"no room for it":     {fmt.Errorf("%w: 32 are there", watch.ErrPolled), 11, 14, 1},
		"its plug is others": {fmt.Errorf("%w: exchanged", watch.ErrAnew), 3200, 4100, 3200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bench{resource: []watch.Resource{{Address: "a", Poll: time.Hour, Alone: time.Minute, Watched: true}},
					look:  func(string) (watch.Look, error) { return watch.Look{Status: drift.None}, nil },
					watch: func(context.Context, string, func(watch.SourceEvent)) error { return c.err }}
				b.run(t, watch.Options{MaxRuntime: time.Hour})
				if n := b.begun["a"]; n < c.least || n > c.most {
					t.Errorf("%d starts, want %d to %d", n, c.least, c.most)
				}
				told := 0
				for _, e := range b.told {
					if p, ok := e.(watch.Process); ok && errors.Is(p.Err, c.err) {
						told++
					}
				}
				if told < c.told || c.told == 1 && told > 1 {
					t.Errorf("told %d times, want %d", told, c.told)
				}
				if len(b.looks) < 50 {
					t.Errorf("polled %d times", len(b.looks))
				}
			})
		})
	}
}
