package graph

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// A crew does every node once, as many at a time as the lanes allow and no more,
// and begins nothing when no more is wanted.
func TestCrew(t *testing.T) {
	t.Parallel()
	const nodes, most = 100, 4
	g := Graph{}
	for i := range nodes {
		g[fmt.Sprintf("n%02d", i)] = nil
	}
	frontier := NewFrontier(g)
	lanes := NewLanes(frontier, func(string) int { return 0 }, most)
	var running, tooMany atomic.Int64
	all := make(chan struct{})
	full := sync.OnceFunc(func() { close(all) })
	crew := NewCrew(lanes, func(node string) string {
		switch n := running.Add(1); {
		case n == most:
			full()
		case n > most:
			tooMany.Add(1)
		}
		<-all // they go on only when as many as may have run at once
		running.Add(-1)
		return node
	})
	defer crew.Close()
	crew.Start(func() bool { return false })
	if lanes.Running() != 0 {
		t.Fatal("it began what is not wanted")
	}
	done := map[string]int{}
	for frontier.Open() > 0 {
		crew.Start(func() bool { return true })
		node := <-crew.Results()
		lanes.Ended(node)
		frontier.Done(node)
		done[node]++
	}
	for node := range g {
		if done[node] != 1 {
			t.Errorf("%s was done %d times", node, done[node])
		}
	}
	if len(done) != nodes || tooMany.Load() > 0 || crew.size != most {
		t.Errorf("%d nodes, %d beyond what the lane allows, by %d", len(done), tooMany.Load(), crew.size)
	}
}
