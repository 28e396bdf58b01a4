package planfile

import (
	"maps"
	"reflect"
	"slices"

	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/order"
)

// validate checks that a plan which was read is consistent, so that its users need
// not: the checksum of a plan file says that the file is whole, not who wrote it. It
// returns what is wrong, or "".
func validate(p *plan.Plan) string {
	if p.Errored {
		return "it is of a plan with errors"
	}
	for addr, s := range p.Resources {
		if s == nil || addr == "" || diag.Visible(addr) != addr {
			return "a resource is not one"
		}
		if why := s.Invalid(); why != "" {
			return why
		}
		for _, target := range s.Aliases {
			if p.Resources[target] == nil && s.Change() != plan.Destroy &&
				s.Change() != plan.Forget && s.Change() != plan.Left { // these use the entries of their dependencies
				return "an alias has no target"
			}
		}
	}
	for _, why := range p.Unreached {
		if why == nil || why.Invalid() {
			return "a reason is not known"
		}
	}
	for _, e := range p.Edges {
		if p.Resources[e.From] == nil || p.Resources[e.To] == nil {
			return "an edge has no target"
		}
	}
	if !barriersHold(p) {
		return "a barrier has no target"
	}
	for _, m := range p.Moves {
		if step := p.Resources[m.To]; step == nil || step.MovedFrom != m.From && step.Deposed == "" || diag.Visible(m.From) != m.From {
			return "a move has no target"
		}
	}
	for name := range maps.Keys(p.Outputs) {
		if diag.Visible(name) != name {
			return "the name of an output is not one"
		}
	}
	if _, err := p.Nodes().Layers(); err != nil {
		return "its order is impossible"
	}
	layers, err := p.Before().Layers()
	if err != nil || len(layers)+len(p.Layers) > 0 && !reflect.DeepEqual(layers, p.Layers) {
		return "its order is not that of its edges"
	}
	return ""
}

// barriersHold reports whether all nodes and resources that the barriers name exist: with a
// damaged or edited file an apply must not wait for something that does not exist.
func barriersHold(p *plan.Plan) bool {
	bare := *p
	bare.Barriers = nil
	nodes, seen := bare.Nodes(), map[string]bool{}
	for _, b := range p.Barriers {
		if _, what := order.OfNode(b.Name); what != order.Wait || seen[b.Name] {
			return false
		}
		seen[b.Name] = true
		for _, node := range slices.Concat(b.After, b.Before) {
			if _, there := nodes[node]; !there {
				return false
			}
		}
		for _, addr := range b.Late {
			if p.Resources[addr] == nil {
				return false
			}
		}
		for _, addr := range b.Again {
			if _, other := p.Others[addr]; !other && p.Resources[addr] == nil {
				return false
			}
		}
	}
	return true
}
