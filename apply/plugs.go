package apply

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"deployster/internal/artifact"
	"deployster/internal/runner"
	"deployster/plan"
)

// CheckPlugs refuses a plan for whose resources a file or directory of this host
// is gone, or has become another by a link, before anything of it is run. What is
// relative begins at dir, which has no symbolic links on its way.
func CheckPlugs(p *plan.Plan, dir string) error {
	leads := map[string]string{} // path -> where it leads: many resources get the same
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		if step.Change == plan.Forget || step.Change == plan.Valid && !step.MayChange {
			continue
		}
		if step.Settings.Host != nil {
			continue // they are of that machine
		}
		for _, m := range runner.MountsIn(dir, step.Mounts) {
			if _, _, versioned := artifact.ParseMount(m.Source); versioned {
				continue // it is brought in
			}
			real, seen := leads[m.Source]
			var err error
			if !seen {
				real, err = filepath.EvalSymlinks(m.Source)
				leads[m.Source] = real
			}
			switch {
			case err != nil:
				return stale("a plug is gone", fmt.Sprintf("The resource %s gets %s as %s, and that cannot be found any more: %s. Put it back, or "+
					"plan again.", addr, m.Source, m.Target, err))
			case real != m.Source:
				return stale("a plug leads elsewhere", fmt.Sprintf("The resource %s gets %s as %s, and that is a link to %s now. Put it back, or "+
					"plan again.", addr, m.Source, m.Target, real))
			}
		}
	}
	return nil
}
