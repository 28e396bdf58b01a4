package order

import (
	"reflect"
	"slices"
)

// Invalid returns what is wrong with an order that was read from a file, or "". layers are those
// that the file has, and others reports whether an address is of a resource that the plan leaves
// out, and that apply may query again.
func (p Plan) Invalid(layers [][]string, others func(addr string) bool) string {
	planned := make(map[string]bool, len(p.Resources))
	for _, addr := range p.Resources {
		planned[addr] = true
	}
	if slices.ContainsFunc(p.Edges, func(e Edge) bool { return !planned[e.From] || !planned[e.To] }) {
		return "an edge has no target"
	}
	if !p.barriersHold(planned, others) {
		return "a barrier has no target"
	}
	if _, err := p.Nodes().Layers(); err != nil {
		return "its order is impossible"
	}
	follow, err := p.Before().Layers()
	if err != nil || len(follow)+len(layers) > 0 && !reflect.DeepEqual(follow, layers) {
		return "its order is not that of its edges"
	}
	return ""
}

// barriersHold reports whether all nodes and resources that the barriers name exist: with a
// damaged or edited file an apply must not wait for something that does not exist.
func (p Plan) barriersHold(planned map[string]bool, others func(addr string) bool) bool {
	bare := p
	bare.Barriers = nil
	nodes, seen := bare.Nodes(), map[string]bool{}
	unknown := func(node string) bool { _, there := nodes[node]; return !there }
	for _, b := range p.Barriers {
		if _, what := OfNode(b.Name); what != Wait || seen[b.Name] {
			return false
		}
		seen[b.Name] = true
		if slices.ContainsFunc(b.After, unknown) || slices.ContainsFunc(b.Before, unknown) ||
			slices.ContainsFunc(b.Late, func(addr string) bool { return !planned[addr] }) ||
			slices.ContainsFunc(b.Again, func(addr string) bool { return !planned[addr] && !others(addr) }) {
			return false
		}
	}
	return true
}
