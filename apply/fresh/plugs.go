package fresh

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// CheckPlugs refuses a plan, before anything of it is run, if a file or directory of
// this host that its resources get is gone, or is a link to another one now. Relative
// paths begin at dir, whose path has no symbolic links.
func CheckPlugs(p *plan.Plan, dir string) error {
	leads := map[string]string{} // path -> where it leads: many resources get the same path
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		if step.Change() == plan.Forget || step.Settled() {
			continue
		}
		if step.Settings.Host != nil {
			continue // its paths are on that machine
		}
		for _, m := range runner.MountsIn(dir, step.Mounts) {
			if _, _, versioned := artifact.ParseMount(m.Source); versioned || m.Content != "" {
				continue // its files are fetched
			}
			real, seen := leads[m.Source]
			var err error
			if !seen {
				real, err = filepath.EvalSymlinks(m.Source)
				leads[m.Source] = real
			}
			switch {
			case err != nil:
				return Stale("a plug path does not exist", fmt.Sprintf("The resource %s gets %s as %s, which no longer exists: "+
					"%s. Restore it, or plan again.", addr, m.Source, m.Target, err))
			case real != m.Source:
				return Stale("a plug path changed", fmt.Sprintf("The resource %s gets %s as %s, which is a link to %s now. "+
					"Restore it, or plan again.", addr, m.Source, m.Target, real))
			}
		}
	}
	return nil
}
