package graph

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// A pool does every node once, as many at a time as the limits allow and no more,
// and begins nothing when no more is wanted.
func TestPool_DoesEachNodeOnce(t *testing.T) {
	t.Parallel()
	const nodes, most = 100, 4
	g := Graph{}
	for i := range nodes {
		g[fmt.Sprintf("n%02d", i)] = nil
	}
	frontier := NewFrontier(g)
	limits := NewLanes(frontier, func(string) Lane { return Lane{} }, 0, most)
	var running, tooMany atomic.Int64
	all := make(chan struct{})
	full := sync.OnceFunc(func() { close(all) })
	pool := NewPool(limits, func(node string) string {
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
	defer pool.Close()
	pool.Start(func() bool { return false })
	if limits.Running() != 0 {
		t.Fatal("it began what is not wanted")
	}
	done := map[string]int{}
	for frontier.Open() > 0 {
		pool.Start(func() bool { return true })
		node := <-pool.Results()
		limits.Ended(node)
		frontier.Done(node)
		done[node]++
	}
	for node := range g {
		if done[node] != 1 {
			t.Errorf("%s was done %d times", node, done[node])
		}
	}
	if len(done) != nodes || tooMany.Load() > 0 || pool.size != most {
		t.Errorf("%d nodes, %d beyond what the limit allows, by %d", len(done), tooMany.Load(), pool.size)
	}
}
