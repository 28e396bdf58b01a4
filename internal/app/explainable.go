package app

import (
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
)

// explainable refuses addresses that no plan can have, before any image is asked.
// Addresses that depend on states not known yet are checked when the plan is made.
func explainable(m *config.Manifest, prior state.Snapshot, s subject.Selection, addresses []string) error {
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
			return diag.Errorf("No such resource in the plan", "There is no resource and no module %s, neither in the manifest nor in the state "+
				"file.%s", diag.Visible(addr), subject.NearMiss(addr, known))
		}
	}
	return nil
}
