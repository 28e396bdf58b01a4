package plan

import (
	"maps"
	"slices"
)

// Together returns the plans of two rounds of one apply as a plan that can be shown with their report. first may be nil.
func Together(first, next *Plan) *Plan {
	if first == nil {
		return next
	}
	both := *next
	both.Resources, both.Layers = maps.Clone(first.Resources), slices.Clone(first.Layers)
	for _, layer := range next.Layers {
		var more []string
		for _, addr := range layer {
			was, known := both.Resources[addr]
			if !known {
				more = append(more, addr)
			}
			if step := next.Resources[addr]; !known || was.Change() == Valid || step.Change() != Valid {
				both.Resources[addr] = step
			}
		}
		if len(more) > 0 {
			both.Layers = append(both.Layers, more)
		}
	}
	both.Moves, both.Edges = slices.Concat(first.Moves, next.Moves), slices.Concat(first.Edges, next.Edges)
	both.Summary = summarize(&both)
	return &both
}
