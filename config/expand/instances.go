package expand

import (
	"sort"
	"time"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
)

// Instances are the resources that the blocks come to, and all that is known of
// them before any is looked at.
type Instances struct {
	*eval.Modules
	List      []*instance.Instance // sorted by address
	Resources []*instance.Resource // theirs
}

// New makes the instances of a tree, which are none before Instantiate.
func New(tree *decl.Tree) *Instances { return &Instances{Modules: eval.NewModules(tree)} }

// Applying are the instances for the apply of a plan that has begun at a time.
func (m *Instances) Applying(now time.Time) *Instances {
	next, mods := *m, *m.Modules
	mods.Impure = eval.NewImpure(now)
	next.Modules = &mods
	return &next
}

// Find is the resource with an address, nil if there is none.
func (m *Instances) Find(address string) *instance.Instance {
	i := sort.Search(len(m.List), func(i int) bool { return m.List[i].Address >= address })
	if i < len(m.List) && m.List[i].Address == address {
		return m.List[i]
	}
	return nil
}
