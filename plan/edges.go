package plan

import (
	"cmp"
	"slices"

	"deployster/plan/order"
	"deployster/state/moves"
)

// edges lists which resource waits for which, sorted; it is never nil, as readers of a plan expect a list.
func (a assembly) edges() []Edge {
	edges := []Edge{}
	for _, r := range a.subject.Manifest.Resources() {
		if a.steps[r.Address] == nil {
			continue
		}
		for _, e := range r.Edges {
			edges = append(edges, Edge{From: e.To, To: r.Address, Origin: string(e.Origin)})
		}
	}
	edges = append(edges, a.removalEdges()...)
	edges = append(edges, a.replaceEdges()...)
	edges = append(edges, a.createFirstEdges()...)
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Origin, b.Origin))
	})
	return slices.CompactFunc(edges, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
}

// removalEdges returns the edges by which an object is removed only after its recorded
// dependants are removed, or changed so that they no longer depend on it.
func (a assembly) removalEdges() []Edge {
	gone := map[string]bool{}
	for _, addr := range a.subject.Removed() {
		gone[addr] = a.steps[addr] != nil
	}
	var edges []Edge
	for dependant, entry := range a.subject.Prior.Resources {
		if _, planned := a.steps[dependant]; !planned {
			continue
		}
		for _, dependency := range entry.Dependencies {
			if gone[dependency] {
				edges = append(edges, Edge{From: dependant, To: dependency, Origin: order.Removal})
			}
		}
	}
	return edges
}

// replaceEdges returns the edges by which the old object of a replaced resource is removed
// only after all its recorded dependants are removed, or changed so that they no longer
// depend on it. What still depends on the resource waits until it is created again.
func (a assembly) replaceEdges() []Edge {
	var edges []Edge
	dependsOn := order.DependsOn(a.subject.Manifest)
	for dependant, entry := range a.subject.Prior.Resources {
		step := a.steps[dependant]
		for _, addr := range entry.Dependencies {
			if old := a.steps[addr]; step == nil || old == nil || old.Change() != Replace {
				continue
			}
			if step.Change() == Destroy || step.Change() == Forget || step.Change() == Replace || !dependsOn(dependant, addr) {
				edges = append(edges, Edge{From: dependant, To: addr, Origin: order.Removal})
			}
		}
	}
	return edges
}

// createFirstEdges returns the edges by which a deposed object is removed after its successor exists.
func (a assembly) createFirstEdges() (edges []Edge) {
	for key := range a.steps {
		addr, number := moves.RecordedAt(key)
		if number > 0 && a.decisions.Matched.Facts.First(addr) && a.steps[addr] != nil {
			edges = append(edges, Edge{From: addr, To: key, Origin: order.CreateFirst})
		}
	}
	return edges
}
