package exclusive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/graph"
	"deployster/plan/autoedge"
	"deployster/plan/order"
	"deployster/plan/plugs"
)

// dependantsFirst returns in which order the objects of the sets are destroyed: what comes after another object, as its type declares,
// is destroyed before it, and that one not if this fails. A manifest can order none of them.
func (f Found) dependantsFirst(sets map[string]*set) (waits []order.Barrier) {
	var nodes []autoedge.Node
	for _, addr := range slices.Sorted(maps.Keys(f.Steps)) {
		if s, step := sets[f.Steps[addr].Exclusive], f.Steps[addr]; step.Change() == "destroy" {
			kind := cmp.Or(s.typ.Kind, plugs.Untagged(s.Type))
			nodes = append(nodes, autoedge.Node{Address: addr, Host: s.Host, Kind: kind, Config: step.Config, Type: s.typ})
		}
	}
	edges, _ := autoedge.Find(nodes, graph.Graph{})
	dependants := map[string][]string{}
	for _, addr := range slices.Sorted(maps.Keys(edges)) {
		for _, to := range edges[addr] {
			dependants[to] = append(dependants[to], addr)
		}
	}
	for i, addr := range slices.Sorted(maps.Keys(dependants)) {
		waits = append(waits, order.Barrier{Name: fmt.Sprintf("purge:%d", len(sets)+i+1), After: dependants[addr], Before: []string{addr}})
	}
	return waits
}
