package approval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/plugs"
)

// otherPaths lists what a plan destroys through another path than today's, with paths
// relative to dir.
func otherPaths(p *plan.Plan, dir string) (list []string) {
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		step := p.Resources[addr]
		for _, one := range []*plan.Step{step, step.Old()} {
			if one == nil || one.Change() != plan.Destroy {
				continue
			}
			for _, o := range plugs.OtherPaths(dir, one.Mounts, one.CurrentMounts()) {
				list = append(list, fmt.Sprintf("%s would be removed through %s; the plug is %s today.", addr, o.Recorded, o.Today))
			}
		}
	}
	return list
}

// RefuseOtherPaths is the error about objects that would be destroyed through another path than today's.
func RefuseOtherPaths(p *plan.Plan, dir string) error {
	lines := otherPaths(p, dir)
	if len(lines) == 0 {
		return nil
	}
	if more := len(lines) - 5; more > 0 {
		lines = append(lines[:5], fmt.Sprintf("And %d more.", more))
	}
	return diag.Errorf("Removed through another path", "%s Nothing was changed. This may be the copy of a project, whose state names "+
		"the objects of the original: `deployster state rm` forgets them. To destroy them where they were created, use "+
		"-approve=other-path.",
		diag.Visible(strings.Join(lines, " ")))
}
