package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each kind has its own limit and neither waits for the other; within a kind the
// order is that of the names, whenever they became ready.
func TestLimits_OfTwoKinds(t *testing.T) {
	t.Parallel()
	g := Graph{}
	for i := range 20 {
		g[fmt.Sprintf("cold%02d", i)] = nil
		g[fmt.Sprintf("warm%02d", i)] = nil
	}
	g["warm00"] = []string{"cold00"}
	laneOf := func(node string) Lane {
		if strings.HasPrefix(node, "warm") {
			return Lane{Kind: 1}
		}
		return Lane{}
	}
	frontier := NewFrontier(g)
	l := NewLanes(frontier, laneOf, 0, 3, 15)
	var order []string
	fill := func() {
		for node, ok := l.Take(); ok; node, ok = l.Take() {
			order = append(order, node)
		}
	}
	fill()
	if l.places[""].running[0] != 3 || l.places[""].running[1] != 15 || l.Running() != 18 {
		t.Errorf("running %v", l.places[""].running)
	}
	for i := 0; i < len(order); i++ {
		l.Ended(order[i])
		frontier.Done(order[i])
		fill()
		if l.places[""].running[0] > 3 || l.places[""].running[1] > 15 {
			t.Fatalf("running %v", l.places[""].running)
		}
	}
	if len(order) != 40 || l.Running() != 0 || frontier.Open() != 0 {
		t.Errorf("%d of 40 were done, %d run, %d are open", len(order), l.Running(), frontier.Open())
	}
	if again := slices.Compact(slices.Sorted(slices.Values(order))); len(again) != 40 {
		t.Errorf("some were taken twice: %q", order)
	}
	cold := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return laneOf(n).Kind == 1 })
	if !slices.IsSorted(cold) {
		t.Errorf("not in the order of their names: %q", cold)
	}
	if slices.Index(order, "warm00") > slices.Index(order, "warm16") {
		t.Errorf("what became ready late, and is the first by name, came after others: %q", order)
	}
}
