package apply

import (
	"fmt"
	"strings"
	"testing"

	"deployster/internal/base/graph"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
)

// What starts containers has one limit, what is done in workers another, and
// neither waits for the other. Without that there is one limit.
func TestLimits_OfContainersAndWorkers(t *testing.T) {
	t.Parallel()
	p, nodes := &plan.Plan{Resources: map[string]*plan.Step{}}, graph.Graph{}
	add := func(name string, change func(*plan.Step)) {
		for i := range 20 {
			step, addr := &plan.Step{Init: protocol.Type{Worker: &protocol.Command{}}}, fmt.Sprint(name, i)
			change(step)
			p.Resources[addr], nodes[addr] = step, nil
		}
	}
	add("cold", func(s *plan.Step) { s.Init.Worker = nil })
	add("none", func(s *plan.Step) { s.Settings.Workers = runner.NoWorkers })
	add("warm", func(*plan.Step) {})
	for _, c := range []struct {
		options    Options
		cold, warm int
	}{
		{Options{Parallelism: 3, InWorkers: 15, Confirm: ConfirmPlan}, 3, 15},
		{Options{Parallelism: 3, Confirm: ConfirmPlan}, 3, 0},
		{Options{Parallelism: 1, InWorkers: 15, Confirm: ConfirmAction}, 1, 0},
	} {
		frontier := graph.NewFrontier(nodes)
		f := limits(p, c.options, frontier)
		var taken []string
		for node, ok := f.Take(); ok; node, ok = f.Take() {
			taken = append(taken, node)
		}
		warm := 0
		for _, node := range taken {
			if strings.HasPrefix(node, "warm") {
				warm++
			}
		}
		if len(taken) != c.cold+c.warm || warm != c.warm || f.Running() != c.cold+c.warm {
			t.Errorf("%+v: %q", c.options, taken)
		}
		seen := map[string]bool{}
		for len(taken) > 0 {
			node := taken[0]
			taken = taken[1:]
			if seen[node] {
				t.Fatalf("%s twice", node)
			}
			seen[node] = true
			f.Ended(node)
			frontier.Done(node)
			for node, ok := f.Take(); ok; node, ok = f.Take() {
				taken = append(taken, node)
			}
		}
		if len(seen) != 60 || f.Running() != 0 || frontier.Open() != 0 {
			t.Errorf("%+v: %d were done, %d in flight, %d open", c.options, len(seen), f.Running(), frontier.Open())
		}
	}
}
