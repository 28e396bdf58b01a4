package approval

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/machinegrant"
	"deployster/plan"
	"deployster/state"
)

// wholeMachine is a word of -approve that no other word includes.
const wholeMachine = "whole-machine"

// newGrants lists the resources whose image would get a machine as a whole, where the state does
// not record that an image of this repository has had that machine.
func newGrants(p *plan.Plan, prior state.Snapshot) (addrs []string) {
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		for _, one := range []*plan.Step{step, step.Old()} {
			if one != nil && one.Settings.WholeMachine && one.Change() != plan.Forget && one.Change() != plan.Left && !granted(one, prior) {
				addrs = append(addrs, addr)
				break
			}
		}
	}
	return addrs
}

// granted reports whether a state has an entry that was made with the same grant.
func granted(s *plan.Step, prior state.Snapshot) bool {
	for _, entry := range prior.Resources {
		if entry.Settings.WholeMachine && s.Settings.Host.Same(entry.Settings.Host) &&
			machinegrant.Repository(entry.Type) == machinegrant.Repository(s.Type) {
			return true
		}
	}
	return false
}

// askAbout reports which resources get a machine as a whole for the first time, before a question.
func askAbout(addrs []string) string {
	return fmt.Sprintf("%s, for the first time: %s.\n", "These get "+runner.WholeMachine, words.List(addrs, 5))
}

// RefuseNewGrants is the error about resources whose image would get a machine as a whole, where
// nobody can approve that.
func RefuseNewGrants(p *plan.Plan, prior state.Snapshot) error {
	addrs := newGrants(p, prior)
	if len(addrs) == 0 {
		return nil
	}
	return diag.Errorf("The whole machine needs an approval", "%s would get %s, for the first time, and a watch approves that never. "+
		"Run `deployster apply`, which prompts for it.", words.List(addrs, 5), runner.WholeMachine)
}
