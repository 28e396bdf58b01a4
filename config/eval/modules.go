package eval

import (
	"sync"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/validate"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/protocol"
)

// Modules are the instances of the root manifest and of all modules, which grow
// while they are evaluated: the for_each of one block may be made of the
// instances of another.
type Modules struct {
	Set     *source.Set
	Refs    *refs.Index
	Tree    *decl.Tree
	Checker validate.Checker
	types   *values.TypeCache

	Pinned         map[string]source.Instances // found with the states of others, by the address of the block
	Top            *instance.Module
	Count          int // instances
	Pending        []instance.Pending
	Plugs          []instance.Plug
	Semaphores     []instance.Semaphore
	Diags          hcl.Diagnostics // of for_each and count
	Secrets        func() []string
	Impure         *impureValues                   // nil until it is applied
	Artifacts      []instance.Artifact             // sorted by name
	AutoEdges      map[string][]string             // what resources come after because their types say so, by address
	ArtifactValues map[string]source.ArtifactValue // of those whose versions are known
	Hosts          instance.Hosts
	HostFacts      map[string]protocol.HostFacts // of those that have been asked, by the names of instances
	LateHosts      map[string]runner.Host        // how those are reached that are made of states, as far as that is known
}

// NewModules makes the instances of the root, which are none yet.
func NewModules(tree *decl.Tree) *Modules {
	m := &Modules{Set: tree.Set, Refs: tree.Refs, Tree: tree, Checker: validate.Checker{Refs: tree.Refs},
		types: &values.TypeCache{Read: map[string]values.StateType{}}}
	m.ArtifactValues, m.HostFacts = tree.Set.Src.Artifacts, tree.Set.Src.Hosts
	return m.With(tree.Set.Src.Instances)
}

// With begins anew with no instances, of which some are pinned.
func (m *Modules) With(pinned map[string]source.Instances) *Modules {
	next := &Modules{Set: m.Set, Refs: m.Refs, Tree: m.Tree, Checker: m.Checker, types: m.types, Impure: m.Impure, Pinned: pinned,
		AutoEdges: m.AutoEdges, ArtifactValues: m.ArtifactValues, HostFacts: m.HostFacts, LateHosts: m.LateHosts}
	next.Top = instance.NewModule(m.Tree.Root, nil, instance.Occurrence{}, "")
	next.Top.Vars = m.Tree.Vars
	next.Secrets = sync.OnceValue(next.findSecrets)
	return next
}

// Convert makes diagnostics without secrets in them.
func (m *Modules) Convert(list hcl.Diagnostics) diag.Diagnostics {
	return m.Set.Convert(list, m.Secrets)
}
