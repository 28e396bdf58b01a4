package order

import (
	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/subject"
)

// CreatedFirst returns the resources with create_before_destroy, and all that they depend on: what
// is created first needs its dependencies created first too.
func CreatedFirst(m *config.Manifest) map[string]bool {
	before, first := graph.Graph{}, map[string]bool{}
	for _, r := range m.Resources() {
		before[r.Address] = subject.Predecessors(r)
	}
	for _, r := range m.Resources() {
		if r.CreateFirst {
			subject.Reach(r.Address, before, first)
		}
	}
	return first
}

// DependsOn returns a function that reports whether a resource of a manifest waits for
// another, directly or not. It walks the graph once for each resource that is waited for.
func DependsOn(m *config.Manifest) func(dependant, addr string) bool {
	var after graph.Graph
	reached := map[string]map[string]bool{}
	return func(dependant, addr string) bool {
		if after == nil {
			before := graph.Graph{}
			for _, r := range m.Resources() {
				before[r.Address] = subject.Predecessors(r)
			}
			after = before.Reverse()
		}
		if reached[addr] == nil {
			reached[addr] = map[string]bool{}
			subject.Reach(addr, after, reached[addr])
		}
		return reached[addr][dependant]
	}
}
