package match_test

import (
	"fmt"
	"runtime"
	"testing"

	"deployster/internal/base/graph"
	"deployster/plan/match"
)

// What is learned of one resource costs no more among many: a plan may learn something of all.
func TestInput_ChangesAreLinear(t *testing.T) {
	for name, change := range map[string]func(in *match.Input, address string){
		"learned":   func(in *match.Input, address string) { _ = in.Learn(address, of(file(), `{"path":"a"}`)) },
		"replaced":  func(in *match.Input, address string) { in.Replace(address) },
		"refuted":   func(in *match.Input, address string) { in.Refute(address) },
		"withdrawn": func(in *match.Input, address string) { in.Withdraw(address) },
	} {
		cost := func(n int) uint64 {
			var in match.Input
			for i := range n {
				in.Declared = append(in.Declared, match.Declared{Address: fmt.Sprint("r", i), Late: true})
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, d := range in.Declared {
				change(&in, d.Address)
			}
			runtime.ReadMemStats(&after)
			return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
		}
		if few, many := cost(200), cost(1600); many > 2*few {
			t.Errorf("%s: %d bytes a resource among 1600, %d among 200", name, many, few)
		}
	}
}

// Of things that are all created again none waits for the identity of another, and none costs
// more among many.
func TestOrder_CreatedAgainIsLinear(t *testing.T) {
	cost := func(n int) uint64 {
		before, begins, ends := graph.Graph{}, []match.Begin{}, []match.Finish{}
		for i := range n {
			node := fmt.Sprint("r", i)
			before[node], before[node+" (old)"] = []string{node + " (old)"}, nil
			begins = append(begins, match.Begin{Node: node, Class: "c", Late: true, Recreated: true})
			ends = append(ends, match.Finish{Node: node + " (old)", Class: "c", Of: node, Recreated: true})
		}
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		match.Order(before, nil, begins, ends)
		runtime.ReadMemStats(&is)
		return (is.TotalAlloc - was.TotalAlloc) / uint64(n)
	}
	if few, many := cost(200), cost(1600); many > 2*few {
		t.Errorf("%d bytes a thing among 1600, %d among 200", many, few)
	}
}
