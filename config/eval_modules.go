package config

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/diag"
)

// modules are the instances of the root manifest and of all modules, which grow
// while they are evaluated: the for_each of one block may be made of the
// instances of another.
type modules struct {
	set   *sourceSet
	refs  *refIndex
	tree  *declTree
	check checker
	types *stateTypes

	pinned  map[string]Instances // found with the states of others, by the address of the block
	top     *module
	count   int // instances
	pending []Pending
	plugs   []Plug
	diags   hcl.Diagnostics // of for_each and count
	secrets func() []string
	impure  *chance // nil until it is applied
}

func newModules(tree *declTree) *modules {
	m := &modules{set: tree.set, refs: tree.refs, tree: tree, check: checker{tree.refs}, types: &stateTypes{read: map[string]stateType{}}}
	return m.with(tree.set.src.Instances)
}

// with begins anew with no instances, of which some are pinned.
func (m *modules) with(pinned map[string]Instances) *modules {
	next := &modules{set: m.set, refs: m.refs, tree: m.tree, check: m.check, types: m.types, impure: m.impure, pinned: pinned}
	next.top = newModule(m.tree.root, nil, occurrence{}, "")
	next.top.vars = m.tree.vars
	next.secrets = sync.OnceValue(next.findSecrets)
	return next
}

// convert makes diagnostics of the house, without secrets in them.
func (m *modules) convert(list hcl.Diagnostics) diag.Diagnostics {
	return m.set.convert(list, m.secrets)
}

func (m *module) each(f func(*module)) {
	f(m)
	for _, name := range slices.Sorted(maps.Keys(m.children)) {
		for _, child := range m.children[name].list {
			child.each(f)
		}
	}
}
