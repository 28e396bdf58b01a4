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
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Modules holds the instances of the root manifest and of all modules. It grows during
// the evaluation: the for_each of one block may depend on the instances of another.
type Modules struct {
	Set     *source.Set
	Refs    *refs.Index
	Tree    *decl.Tree
	Checker validate.Checker
	types   *values.TypeCache

	Pinned         map[string]source.Instances // determined earlier with states, by the address of the block
	Top            *instance.Module
	Count          int // instances
	Pending        []instance.Pending
	Plugs          []instance.Plug
	Semaphores     []instance.Semaphore
	Exclusive      []instance.Exclusive // sorted by name
	Notify         []instance.Notify    // sorted by name
	SecretBlocks   []instance.Secret    // sorted by name
	Operations     []instance.Operation // sorted by name
	Diags          hcl.Diagnostics      // the errors of for_each and count
	Secrets        func() []string
	Hider          func() *secret.Hider            // of Secrets
	Impure         *impureValues                   // nil except during apply
	Artifacts      []instance.Artifact             // sorted by name
	AutoEdges      map[string][]instance.Edge      // automatic dependencies of resources, by address
	ArtifactValues map[string]source.ArtifactValue // of the artifacts whose versions are known
	Hosts          instance.Hosts
	HostFacts      map[string]protocol.HostFacts // the known facts, by the names of instances
	LateHosts      map[string]runner.Host        // how to reach hosts whose blocks depend on states, as far as known
	Remotes        *RemoteStates                 // shared by all that are made of these
}

// NewModules returns Modules with the root and no instances.
func NewModules(tree *decl.Tree) *Modules {
	m := &Modules{Set: tree.Set, Refs: tree.Refs, Tree: tree, Checker: validate.Checker{Refs: tree.Refs},
		types: &values.TypeCache{Read: map[string]values.StateType{}}}
	m.Remotes = newRemoteStates(tree)
	m.ArtifactValues, m.HostFacts = tree.Set.Src.Artifacts, tree.Set.Src.Hosts
	return m.With(tree.Set.Src.Instances)
}

// With returns new Modules without instances, with some determined in advance.
func (m *Modules) With(pinned map[string]source.Instances) *Modules {
	next := &Modules{Set: m.Set, Refs: m.Refs, Tree: m.Tree, Checker: m.Checker, types: m.types, Impure: m.Impure, Pinned: pinned,
		AutoEdges: m.AutoEdges, ArtifactValues: m.ArtifactValues, HostFacts: m.HostFacts, LateHosts: m.LateHosts, Remotes: m.Remotes}
	next.Top = instance.NewModule(m.Tree.Root, nil, instance.Occurrence{}, "")
	next.Top.Vars = m.Tree.Vars.Known
	next.Secrets = sync.OnceValue(next.findSecrets)
	next.Hider = sync.OnceValue(func() *secret.Hider { return secret.NewHider(next.Secrets()) })
	return next
}

// Convert converts diagnostics, and removes secrets from them.
func (m *Modules) Convert(list hcl.Diagnostics) diag.Diagnostics {
	return m.Set.Convert(list, m.Secrets)
}
