package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestCircles_ShareANumber(t *testing.T) {
	t.Parallel()
	g := Graph{"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"f"}, "f": {"e"}, "g": {"g"}, "h": nil}
	c := g.Cycles()
	if len(c) != len(g) {
		t.Fatalf("%d of %d nodes have a number", len(c), len(g))
	}
	for _, pair := range [][2]string{{"a", "b"}, {"b", "c"}, {"e", "f"}} {
		if c[pair[0]] != c[pair[1]] {
			t.Errorf("%s and %s lie in a circle: %v", pair[0], pair[1], c)
		}
	}
	for _, pair := range [][2]string{{"a", "d"}, {"d", "e"}, {"a", "e"}, {"g", "h"}, {"a", "h"}} {
		if c[pair[0]] == c[pair[1]] {
			t.Errorf("%s and %s lie in no circle: %v", pair[0], pair[1], c)
		}
	}
}

// What lies in a circle is what reaches each other.
func TestCircles_OfRandomGraphs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	reaches := func(g Graph, from, to string) bool {
		seen, open := map[string]bool{}, []string{from}
		for len(open) > 0 {
			n := open[len(open)-1]
			open = open[:len(open)-1]
			if n == to {
				return true
			}
			if !seen[n] {
				seen[n] = true
				open = append(open, g[n]...)
			}
		}
		return false
	}
	for range 300 {
		g, nodes := Graph{}, 2+random.IntN(9)
		for i := range nodes {
			g[fmt.Sprint(i)] = nil
		}
		for range random.IntN(3 * nodes) {
			n := fmt.Sprint(random.IntN(nodes))
			g[n] = append(g[n], fmt.Sprint(random.IntN(nodes)))
		}
		c := g.Cycles()
		for a := range g {
			for b := range g {
				if together := reaches(g, a, b) && reaches(g, b, a); together != (c[a] == c[b]) {
					t.Fatalf("%v: %s and %s: %v, and %v", g, a, b, together, c)
				}
			}
		}
	}
}

func TestCircles_OfADeepGraph(t *testing.T) {
	t.Parallel()
	g := Graph{}
	const deep = 100_000
	for i := range deep {
		g[fmt.Sprint(i)] = []string{fmt.Sprint((i + 1) % deep)}
	}
	first := -1
	for _, number := range g.Cycles() {
		if first == -1 {
			first = number
		}
		if number != first {
			t.Fatal("one circle has two numbers")
		}
	}
}
