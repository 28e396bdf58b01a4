package subject

import (
	"slices"

	"deployster/internal/base/graph"
)

// nodes is the graph from which a selection chooses: the resources of the manifest,
// the entries that only the state file has, and the blocks whose instances are not
// known yet, each with what must be done before it and after it.
type nodes struct {
	before, after graph.Graph
	pending       map[string]bool // the blocks with unknown instances
}

// everyNode returns the graph of all nodes. A block stands for its future instances:
// what these need comes before the block, and the block comes before what waits for its
// instances, and before the entries that may be its instances. An entry that is removed
// comes after all its recorded dependants.
func (s *Subject) everyNode() nodes {
	n := nodes{before: graph.Graph{}, pending: map[string]bool{}}
	for _, p := range s.Manifest.Pending() {
		n.pending[p.Address] = true
		n.before[p.Address] = slices.Concat(p.Needs, p.WaitsFor)
	}
	for _, r := range s.Manifest.Resources() {
		n.before[r.Address] = slices.Concat(Predecessors(r), r.WaitsFor)
	}
	gone := map[string]bool{}
	for addr := range s.Prior.Resources {
		if _, declared := n.before[addr]; declared && !n.pending[addr] {
			continue
		}
		gone[addr] = true
		if block := s.PendingAbove(addr); block != "" && block != addr {
			n.before[addr] = append(n.before[addr], block)
		} else if block == "" {
			n.before[addr] = nil
		}
	}
	for dependant, entry := range s.Prior.Resources {
		for _, dependency := range entry.Dependencies {
			if gone[dependency] {
				n.before[dependency] = append(n.before[dependency], dependant)
			}
		}
	}
	for _, m := range s.identityMoves {
		n.before[m.From] = append(n.before[m.From], m.To)
		n.before[m.To] = append(n.before[m.To], m.From)
	}
	n.after = n.before.Reverse()
	return n
}

// Reach adds a node to a set, with all nodes that are reached from it.
func Reach(from string, along graph.Graph, into map[string]bool) {
	open := []string{from}
	for len(open) > 0 {
		addr := open[len(open)-1]
		open = open[:len(open)-1]
		if !into[addr] {
			into[addr] = true
			open = append(open, along[addr]...)
		}
	}
}
