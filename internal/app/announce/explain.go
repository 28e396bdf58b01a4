package announce

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/explain"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
)

// Explainable refuses addresses that no plan can have, before any image is queried.
// Addresses that depend on states not known yet are checked when the plan is made.
func Explainable(m *config.Manifest, prior state.Snapshot, s subject.Selection, addresses []string) error {
	about := subject.New(m, prior, s)
	if len(addresses) == 0 || about.Begin().HasErrors() { // the plan reports these errors
		return nil
	}
	parsed, err := config.ParseAddresses(addresses)
	if err != nil {
		return err
	}
	known := about.Addresses()
	for _, addr := range parsed {
		at, _ := moves.RecordedAt(addr)
		if !slices.ContainsFunc(known, func(inner string) bool { return moves.Covers(at, inner) }) && about.PendingAbove(at) == "" {
			return diag.Errorf("No such resource in the plan", "There is no resource and no module %s, neither in the manifest nor in the "+
				"state file.%s", diag.Visible(addr), subject.NearMiss(addr, known))
		}
	}
	return nil
}

// Explain explains the changes of some resources. prior is the state that the plan was made
// from, or a later one; m has what became known during planning.
func Explain(p *plan.Plan, m *config.Manifest, prior state.Snapshot, addresses []string) ([]*explain.Explanation, error) {
	parsed, err := config.ParseAddresses(addresses)
	if err != nil {
		return nil, err
	}
	var list []*explain.Explanation
	for _, addr := range slices.Concat(expandAddresses(p, parsed)...) {
		one, err := explain.Resource(p, m, prior, addr, render.ToExplain)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// expandAddresses returns the addresses of a plan that each given address covers: a block or a module covers
// all that is in it. An address that covers nothing is returned itself, to be refused later.
func expandAddresses(p *plan.Plan, addresses []string) (list [][]string) {
	for _, addr := range addresses {
		var within []string
		for _, there := range natural.Sorted(maps.Keys(p.Resources)) {
			if moves.Covers(addr, there) {
				within = append(within, there)
			}
		}
		if within == nil {
			within = []string{addr}
		}
		list = append(list, within)
	}
	return list
}
