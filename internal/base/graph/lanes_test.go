package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// laneOf reads lanes from names as web3/disk; what has no slash is on no host.
func laneOf(node string) Lane {
	host, _, found := strings.Cut(node, "/")
	if !found {
		return Lane{}
	}
	return Lane{Place: host, Host: true}
}

// fill takes all that may start now.
func fill(l *Limits) (taken []string) {
	for node, ok := l.Take(); ok; node, ok = l.Take() {
		taken = append(taken, node)
	}
	return taken
}

func TestLanes_OfEachHost(t *testing.T) {
	t.Parallel()
	g := Graph{}
	for _, node := range []string{"a/1", "a/2", "a/3", "b/1", "b/2", "here1", "here2", "here3"} {
		g[node] = nil
	}
	l := NewLanes(NewFrontier(g), laneOf, 0, 2)
	if got := fill(l); !slices.Equal(got, []string{"here1", "here2", "a/1", "a/2", "b/1", "b/2"}) {
		t.Errorf("began %v", got)
	}
}

// A rolling walk works on one host until nothing can be done there now.
func TestLanes_FinishOneHostBeforeTheNext(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a/1": nil, "a/2": {"a/1"}, "b/1": nil, "c/1": nil, "a/3": {"c/1"}})
	l := NewLanes(f, laneOf, 1, 10)
	var order []string
	for node, ok := l.Take(); ok; node, ok = l.Take() {
		order = append(order, node)
		if more, ok := l.Take(); ok {
			t.Fatalf("%s is begun beside %s", more, node)
		}
		l.Ended(node)
		f.Done(node)
	}
	if want := []string{"a/1", "a/2", "b/1", "c/1", "a/3"}; !slices.Equal(order, want) {
		t.Errorf("%v, and not %v", order, want)
	}
}

func TestLanes_StopAtOneHost(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a/1": nil, "a/2": nil, "b/1": nil, "b/2": {"b/1"}, "here": nil})
	l := NewLanes(f, laneOf, 0, 1)
	fill(l)
	l.Stop("a/1")
	for _, node := range []string{"a/1", "b/1"} {
		l.Ended(node)
	}
	f.Drop("a/1")
	f.Done("b/1")
	if got := fill(l); !slices.Equal(got, []string{"b/2"}) {
		t.Errorf("began %v after a failed", got)
	}
}

// A host on which something was changed comes before hosts on which nodes only ran.
func TestLanes_BegunHostsComeFirst(t *testing.T) {
	t.Parallel()
	f := NewFrontier(Graph{"a/1": nil, "b/1": nil, "c/1": nil, "here": {"a/1", "b/1", "c/1"}, "a/2": {"here"}, "b/2": {"here"}, "c/2": {"here"}})
	l := NewLanes(f, laneOf, 1, 1)
	var order []string
	for node, ok := l.Take(); ok; node, ok = l.Take() {
		order = append(order, node)
		if l.Ended(node); node == "b/1" {
			l.Begin(node)
		}
		f.Done(node)
	}
	if want := []string{"a/1", "b/1", "c/1", "here", "b/2", "a/2", "c/2"}; !slices.Equal(order, want) {
		t.Errorf("%v, and not %v", order, want)
	}
}

// Whatever the graph, and whatever fails: never more hosts or nodes of one at one time
// than allowed, nothing at a host that has failed, all else, and no standstill.
func TestLanes_OfRandomGraphs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 7))
		g, hosts, most := Graph{}, r.IntN(4), 1+r.IntN(3)
		var nodes []string
		for i := range 1 + r.IntN(40) {
			node := fmt.Sprintf("h%d/%d", r.IntN(6), i)
			if r.IntN(5) == 0 {
				node = fmt.Sprintf("here%d", i)
			}
			g[node] = nil
			for range r.IntN(3) {
				if len(nodes) > 0 {
					g[node] = append(g[node], nodes[r.IntN(len(nodes))])
				}
			}
			slices.Sort(g[node])
			g[node] = slices.Compact(g[node])
			nodes = append(nodes, node)
		}
		f := NewFrontier(g)
		l := NewLanes(f, laneOf, hosts, most)
		var running []string
		ended, lost, failed := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for f.Open() > 0 {
			for _, node := range fill(l) {
				if failed[laneOf(node).Place] && laneOf(node).Host {
					t.Fatalf("seed %d: %s was begun at a host that has failed", seed, node)
				}
				running = append(running, node)
			}
			at := map[string]int{}
			for _, node := range running {
				at[laneOf(node).Place]++
			}
			for place, n := range at {
				if n > most {
					t.Fatalf("seed %d: %d at %s, and %d is the limit", seed, n, place, most)
				}
			}
			if delete(at, ""); hosts > 0 && len(at) > hosts {
				t.Fatalf("seed %d: %d hosts at one time, and %d is the limit", seed, len(at), hosts)
			}
			if len(running) == 0 {
				break
			}
			i := r.IntN(len(running))
			node := running[i]
			running = slices.Delete(running, i, i+1)
			l.Ended(node)
			ended[node] = true
			if place := laneOf(node); place.Host && r.IntN(8) == 0 {
				failed[place.Place] = true
				l.Stop(node)
				for _, n := range f.Drop(node) {
					lost[n] = true
				}
			} else {
				f.Done(node)
			}
		}
		reachable := func(node string) bool { return !lost[node] && !failed[laneOf(node).Place] }
		var after func(node string) bool
		after = func(node string) bool { // whether something before it was never done
			return slices.ContainsFunc(g[node], func(b string) bool { return !ended[b] || after(b) })
		}
		for _, node := range nodes {
			if !ended[node] && reachable(node) && !after(node) {
				t.Fatalf("seed %d: %s was left, and nothing held it up", seed, node)
			}
		}
	}
}
