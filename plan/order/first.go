package order

import (
	"deployster/config"
	"deployster/internal/base/graph"
	"deployster/plan/subject"
)

// First gives the resources with create_before_destroy, and all that they depend on: a
// new one that is made first needs its dependencies made first too.
func First(m *config.Manifest) map[string]bool {
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
