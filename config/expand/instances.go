package expand

import (
	"sort"
	"time"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
)

// Instances holds the resources of all blocks, and everything that is known of them
// before any state is read.
type Instances struct {
	Modules   *eval.Modules
	List      []*instance.Instance // sorted by address
	Resources []*instance.Resource // the resources of List that are managed or read by themselves
	Lookups   []*instance.Resource // those of List that only a check reads
}

// New returns the instances of a tree; there are none before Instantiate.
func New(tree *decl.Tree) *Instances { return &Instances{Modules: eval.NewModules(tree)} }

// Applying returns the instances for an apply that began at now.
func (m *Instances) Applying(now time.Time) *Instances {
	next, mods := *m, *m.Modules
	mods.Impure = eval.NewImpure(now)
	next.Modules = &mods
	return &next
}

// Find returns the resource with an address, nil if there is none.
func (m *Instances) Find(address string) *instance.Instance {
	i := sort.Search(len(m.List), func(i int) bool { return m.List[i].Address >= address })
	if i < len(m.List) && m.List[i].Address == address {
		return m.List[i]
	}
	return nil
}
