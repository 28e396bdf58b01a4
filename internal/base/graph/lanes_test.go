package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each lane has its own bound and neither waits for the other; in a lane the
// order is that of the names, whenever they became ready.
func TestLanes(t *testing.T) {
	t.Parallel()
	g := Graph{}
	for i := range 20 {
		g[fmt.Sprintf("cold%02d", i)] = nil
		g[fmt.Sprintf("warm%02d", i)] = nil
	}
	g["warm00"] = []string{"cold00"}
	lane := func(node string) int {
		if strings.HasPrefix(node, "warm") {
			return 1
		}
		return 0
	}
	frontier := NewFrontier(g)
	l := NewLanes(frontier, lane, 3, 15)
	var order []string
	fill := func() {
		for node, ok := l.Take(); ok; node, ok = l.Take() {
			order = append(order, node)
		}
	}
	fill()
	if l.running[0] != 3 || l.running[1] != 15 || l.Running() != 18 {
		t.Errorf("running %v", l.running)
	}
	for i := 0; i < len(order); i++ {
		l.Ended(order[i])
		frontier.Done(order[i])
		fill()
		if l.running[0] > 3 || l.running[1] > 15 {
			t.Fatalf("running %v", l.running)
		}
	}
	if len(order) != 40 || l.Running() != 0 || frontier.Open() != 0 {
		t.Errorf("%d of 40 were done, %d run, %d are open", len(order), l.Running(), frontier.Open())
	}
	if again := slices.Compact(slices.Sorted(slices.Values(order))); len(again) != 40 {
		t.Errorf("some were taken twice: %q", order)
	}
	cold := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return lane(n) == 1 })
	if !slices.IsSorted(cold) {
		t.Errorf("not in the order of their names: %q", cold)
	}
	if slices.Index(order, "warm00") > slices.Index(order, "warm16") {
		t.Errorf("what became ready late, and is the first by name, came after others: %q", order)
	}
}

// A lane can be given another bound at any time.
func TestBoundOfALane(t *testing.T) {
	t.Parallel()
	g := Graph{}
	for i := range 20 {
		g[fmt.Sprint(i)] = nil
	}
	l := NewLanes(NewFrontier(g), func(string) int { return 1 }, 5, 2)
	fill := func() (n int) {
		for _, ok := l.Take(); ok; _, ok = l.Take() {
			n++
		}
		return n
	}
	first := fill()
	l.Bound("0", 7)
	wider := fill()
	l.Bound("0", 3)
	for range 4 { // 7 run, and then 3
		l.Ended("0")
	}
	narrow := fill()
	l.Ended("0")
	if again := fill(); first != 2 || wider != 5 || narrow != 0 || again != 1 {
		t.Errorf("%d, %d, %d and %d were taken", first, wider, narrow, again)
	}
}
