package plan

import (
	"maps"
	"slices"
)

// Kinds lists the addresses by the kind of change that somebody has to approve. Valid
// resources need no approval, but one that may change counts as an update. What changes
// only the state file, such as a move or an output, needs no approval either. What an exclusive
// set destroys has an approval of its own.
func (p *Plan) Kinds() map[Change][]string {
	kinds := map[Change][]string{}
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		kind := step.Kind()
		switch {
		case kind == Valid && step.Certainty == MayChange:
			kind = Update
		case kind == Destroy && step.Exclusive != "", kind == Deferred && step.ReadOnly,
			kind == Valid || kind == Record || kind == Left || kind == ReadFailed:
			continue
		}
		kinds[kind] = append(kinds[kind], addr)
	}
	return kinds
}

// LeftOpen lists the resources whose actions the plan cannot promise, sorted.
func (p *Plan) LeftOpen() []string {
	var open []string
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		if step := p.Resources[addr]; step.Flexible() && step.Certainty != QueriedAgain && !step.ReadOnly {
			open = append(open, addr)
		}
	}
	return open
}
