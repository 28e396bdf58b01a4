package subject

import (
	"maps"
	"slices"

	"deployster/config"
)

// Ready returns the resources whose states must be known before the next of some blocks can be
// expanded, with all that these resources depend on.
func Ready(m *config.Manifest, open []config.Pending) map[string]bool {
	resources := map[string]*config.Resource{}
	for _, r := range m.Resources() {
		resources[r.Address] = r
	}
	ready := map[string]bool{}
	for _, p := range open {
		if closure, ok := closureOf(p, resources); ok {
			maps.Copy(ready, closure)
		}
	}
	return ready
}

// closureOf returns the resources that a block needs for its instances, and all that
// these depend on; false = one of them waits for another block.
func closureOf(p config.Pending, resources map[string]*config.Resource) (map[string]bool, bool) {
	closure, open := map[string]bool{}, slices.Clone(p.Needs)
	for len(open) > 0 {
		addr := open[len(open)-1]
		open = open[:len(open)-1]
		if closure[addr] {
			continue
		}
		closure[addr] = true
		r := resources[addr]
		if r == nil || r.Waits {
			return nil, false
		}
		open = append(open, Predecessors(r)...)
	}
	return closure, !p.Waits
}
