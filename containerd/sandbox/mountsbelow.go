package sandbox

import (
	"fmt"

	"github.com/moby/sys/mountinfo"
)

// MountsBelow lists what is mounted below the mounts of a container: a running container
// does not see what is mounted there later.
func MountsBelow(grants []Grant) (below []string, err error) {
	if len(grants) == 0 {
		return nil, nil
	}
	list, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		for _, g := range grants {
			if Within(m.Mountpoint, g.Source) {
				return false, false
			}
		}
		return true, false
	})
	for _, m := range list {
		below = append(below, fmt.Sprintf("%d %d:%d %s %s", m.ID, m.Major, m.Minor, m.Root, m.Mountpoint))
	}
	return below, err
}
