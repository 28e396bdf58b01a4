package config

import (
	"sort"
	"time"
)

// instances are the resources that the blocks come to, and all that is known of
// them before any is looked at.
type instances struct {
	*modules
	list      []*instance // sorted by address
	resources []*Resource // theirs
}

func newInstances(tree *declTree) *instances { return &instances{modules: newModules(tree)} }

// applying are the instances for the apply of a plan that has begun at a time.
func (m *instances) applying(now time.Time) *instances {
	next, mods := *m, *m.modules
	mods.impure = newChance(now)
	next.modules = &mods
	return &next
}

// find is the resource with an address, nil if there is none.
func (m *instances) find(address string) *instance {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].Address >= address })
	if i < len(m.list) && m.list[i].Address == address {
		return m.list[i]
	}
	return nil
}
