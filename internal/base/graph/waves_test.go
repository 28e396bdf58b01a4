package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// rollout does the nodes of random hosts in waves, in random order, and reports which groups were
// begun at the end of each wave.
type rollout struct {
	limits   *Limits
	frontier *Frontier
	running  []string
	begun    map[string]bool
	random   *rand.Rand
}

// finish ends a random node. Each node whose name ends in an even digit changes something.
func (r *rollout) finish(group func(string) string) {
	i := r.random.IntN(len(r.running))
	node := r.running[i]
	r.running = append(r.running[:i], r.running[i+1:]...)
	r.limits.Ended(node)
	if node[0] == 'h' && (node[len(node)-1]-'0')%2 == 0 {
		r.limits.Begin(node)
		r.begun[group(node)] = true
	}
	r.frontier.Done(node)
}

// However nodes depend on each other over hosts, a wave begins as many groups as it has seats, all is
// done in the end, and a host on which nothing is changed takes no seat.
func TestWaves_BeginNoMoreThanTheirSeats(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		hosts, perGroup := 1+random.IntN(8), 1+random.IntN(3)
		var names []string
		for h := range hosts {
			for n := range 1 + random.IntN(4) {
				names = append(names, fmt.Sprintf("h%d-%d", h, n))
			}
		}
		for n := range random.IntN(4) {
			names = append(names, fmt.Sprintf("local%d", n))
		}
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		g := Graph{}
		for i, n := range names {
			g[n] = nil
			for range random.IntN(3) {
				if i > 0 {
					g[n] = append(g[n], names[random.IntN(i)])
				}
			}
		}
		groupOf := func(node string) string { return fmt.Sprint("g", int(node[1]-'0')/perGroup) }
		r := &rollout{frontier: NewFrontier(g), begun: map[string]bool{}, random: random}
		r.limits = NewLanes(r.frontier, func(node string) Lane {
			if node[0] != 'h' {
				return Lane{Place: "here"}
			}
			return Lane{Place: "host " + node[:2], Host: true, Group: groupOf(node)}
		}, 0, 1+random.IntN(3))
		seats, waves := 1+random.IntN(3), 1
		r.limits.Wave(seats)
		for r.frontier.Open() > 0 {
			for node, ok := r.limits.Take(); ok; node, ok = r.limits.Take() {
				r.running = append(r.running, node)
			}
			if len(r.running) > 0 {
				r.finish(groupOf)
			} else {
				if !r.limits.Held() {
					t.Fatalf("seed %d: %d nodes are left, and nothing waits for the next wave", seed, r.frontier.Open())
				}
				if len(r.begun) < seats*waves {
					t.Fatalf("seed %d: wave %d of %d ended with %d groups begun, though others waited", seed, waves, seats, len(r.begun))
				}
				waves++
				r.limits.Wave(seats)
			}
			if len(r.begun) > seats*waves {
				t.Fatalf("seed %d: %d groups were begun in %d waves of %d", seed, len(r.begun), waves, seats)
			}
		}
	}
}

// A host that is begun needs no seat, and a wave without seats begins no other.
func TestWaves_ContinueWithHostsThatAreBegun(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a1": nil, "a2": nil, "b1": nil, "local": nil})
	l := NewLanes(f, func(node string) Lane {
		if node == "local" {
			return Lane{Place: "here"}
		}
		return Lane{Place: node[:1], Host: true}
	}, 0, 10)
	l.Begin("a1")
	l.Wave(0)
	got := ""
	for node, ok := l.Take(); ok; node, ok = l.Take() {
		got += node + " "
	}
	if got != "local a1 a2 " || !l.Held() {
		t.Errorf("started %s, held %v", got, l.Held())
	}
	l.NoWaves()
	if node, ok := l.Take(); node != "b1" || !ok {
		t.Errorf("without waves: %q", node)
	}
}

// A host that was stopped before anything was begun there leaves its seat to another.
func TestWaves_AStoppedHostLeavesItsSeat(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a1": nil, "a2": nil, "b1": nil})
	l := NewLanes(f, func(node string) Lane { return Lane{Place: node[:1], Host: true} }, 0, 1)
	l.Wave(1)
	node, _ := l.Take()
	if other, ok := l.Take(); ok {
		t.Fatalf("%s and %s were started", node, other)
	}
	l.Ended(node)
	f.Drop(node)
	l.Stop(node)
	if node, ok := l.Take(); node != "b1" || !ok {
		t.Errorf("after the stop: %q", node)
	}
}
