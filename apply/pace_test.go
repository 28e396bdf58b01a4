package apply

import (
	"fmt"
	"testing"
	"time"

	"deployster/internal/base/graph"
)

// More is in flight while much gets done, and no more than at the beginning when
// it takes long.
func TestPaceOfWorkers(t *testing.T) {
	t.Parallel()
	g := graph.Graph{}
	for i := range 10_000 {
		g[fmt.Sprintf("n%04d", i)] = nil
	}
	frontier := graph.NewFrontier(g)
	lanes := graph.NewLanes(frontier, func(string) int { return 0 }, 80)
	p := pace{lanes: lanes, least: 80}
	var running []string
	now := time.Unix(1, 0)
	during := func(each time.Duration, count int) int {
		for range count {
			for node, ok := lanes.Take(); ok; node, ok = lanes.Take() {
				running = append(running, node)
			}
			node := running[0]
			running = running[1:]
			now = now.Add(each)
			lanes.Ended(node)
			frontier.Done(node)
			p.did(node, now)
		}
		return len(running) + 1
	}
	for _, c := range []struct {
		each     time.Duration
		inFlight int
	}{{50 * time.Millisecond, 80}, {time.Millisecond, 240}, {3 * time.Millisecond, 166}, {time.Second, 80}} {
		if got := during(c.each, 1000); got != c.inFlight {
			t.Errorf("one ends every %s: %d in flight, not %d", c.each, got, c.inFlight)
		}
	}
	(&pace{lanes: lanes}).did("n0000", now) // has no bound of its own
	if got := during(time.Second, 1); got != 80 {
		t.Errorf("%d in flight", got)
	}
}
