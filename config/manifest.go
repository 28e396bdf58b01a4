package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/expand"
	"deployster/config/limits"
	"deployster/config/source"
	"deployster/internal/base/diag"
	"deployster/internal/base/scalars"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Manifest is the checked content of the manifest files. Its methods are safe for
// concurrent use.
type Manifest struct {
	set       *source.Set
	tree      *decl.Tree
	instances *expand.Instances
	scalars   conversion
}

// conversion makes configs what the schemas of their types require; without typeOf it
// changes none. See Converting.
type conversion struct {
	typeOf    func(addr string) protocol.Type
	converter *scalars.Converter
	schemas   *typeschema.Schemas
}

func (c conversion) convert(addr string, out *Resolved) {
	if c.typeOf != nil {
		ty := c.typeOf(addr)
		out.Value = c.converter.Convert(ty.ConfigSchema, plugPaths(out.Value, ty.PlugsIn), out.Unknown)
		out.Value = c.schemas.WithDefaults(ty.ConfigSchema, out.Value)
	}
}

// Converting returns a manifest that converts the scalars in configs to the types
// that the schemas of their types name, "80" to 80 for a number, and the plugs that
// they name to paths, and adds the defaults of the schemas.
func Converting(m *Manifest, typeOf func(addr string) protocol.Type) *Manifest {
	next := *m
	next.scalars = conversion{typeOf, &scalars.Converter{}, &typeschema.Schemas{}}
	return &next
}

// Sources returns what the manifest was loaded from, with the modules that it calls in
// Modules and everything that file() and similar functions have read so far in Reads.
func (m *Manifest) Sources() Sources {
	s := m.set.Sources()
	s.Instances, s.Artifacts, s.Hosts = m.instances.Modules.Pinned, m.instances.Modules.ArtifactValues, m.instances.Modules.HostFacts
	s.Remote = m.instances.Modules.Remotes.Used()
	return s
}

// Resources returns the declared resources, sorted by address.
func (m *Manifest) Resources() []*Resource { return m.instances.Resources }

// Pending returns the blocks that are not expanded yet, sorted by address. Their
// resources are not in Resources; those that depend on them have Waits set. The
// caller first reads the states that they need, then calls Expand.
func (m *Manifest) Pending() []Pending { return m.instances.Modules.Pending }

// Artifacts returns the declared artifacts, sorted by name.
func (m *Manifest) Artifacts() []Artifact { return m.instances.Modules.Artifacts }

// Types are the declared types of a manifest.
type Types struct{ instances *expand.Instances }

// Types returns the declared types.
func (m *Manifest) Types() Types { return Types{m.instances} }

// Root returns those of the root, sorted by name.
func (t Types) Root() []Type { return expand.TypesOf(t.instances) }

// All returns those of the root and of its modules, without defaults.
func (t Types) All() []Type { return expand.TypesOfAll(t.instances) }

// Pending returns the images of the future instances of the blocks in Pending, in the form of resources at the addresses of
// the blocks, as far as they are known.
func (t Types) Pending() (list []*Resource) {
	failed := limits.Guard(func() {
		for _, p := range t.instances.Modules.Pending {
			list = append(list, expand.TypesOfPending(p, t.instances)...)
		}
	})
	if failed != nil {
		return nil // the plan meets the same again, when there are instances
	}
	return list
}

// WithArtifacts returns a new manifest whose artifacts have the given versions. It does
// not change m.
func (m *Manifest) WithArtifacts(found map[string]ArtifactValue) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.WithArtifacts(found) })
}

// WithAutoEdges returns a new manifest with additional dependencies of resources, by
// address, all of one origin. It does not change m.
func WithAutoEdges(m *Manifest, found map[string][]string, origin Origin) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return expand.WithAutoEdges(m.instances, found, origin) })
}

// Plugs returns the declared plugs, sorted by name.
func (m *Manifest) Plugs() []Plug { return m.instances.Modules.Plugs }

// Semaphores returns the declared semaphores, sorted by name.
func (m *Manifest) Semaphores() []Semaphore { return m.instances.Modules.Semaphores }

// Exclusive returns the declared exclusive sets, sorted by name.
func (m *Manifest) Exclusive() []Exclusive { return m.instances.Modules.Exclusive }

// Unattended returns what runs in addition to the resources.
func (m *Manifest) Unattended() Unattended {
	return Unattended{m.instances.Modules, m.instances.Lookups}
}

// Resource returns a declared resource, nil if there is none at the address.
func (m *Manifest) Resource(addr string) *Resource {
	if i := m.instances.Find(addr); i != nil {
		return &i.Resource
	}
	return nil
}

// Moved returns the moved blocks, in the order of their files.
func (m *Manifest) Moved() []Moved { return m.instances.Moved() }

// Removed returns the removed blocks, in the order of their files.
func (m *Manifest) Removed() []Removed { return m.instances.Removed() }

// Blocks returns the addresses in the root's files, sorted: those of its resource and
// module blocks, including blocks without instances, and those in its removed blocks.
func (m *Manifest) Blocks() []string {
	root := m.tree.Root
	var list []string
	for name, r := range root.Resources {
		if r.Check == nil {
			list = append(list, name)
		}
	}
	for name := range root.Calls {
		list = append(list, "module."+name)
	}
	for _, r := range root.Removed {
		list = append(list, r.From)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Settings are the settings of the root's deployster blocks.
type Settings struct {
	StatePath  string      // the path of the state file, or the URL of the state, as the manifest has it
	StateAt    *diag.Range // of StatePath
	Encryption *Encryption // nil = none
	AutoEdges  bool        // types may declare automatic dependencies of their resources
	Exports    *Exports    // nil = no settings for published outputs
}

// Settings returns the settings of the manifest.
func (m *Manifest) Settings() Settings {
	s := Settings{StatePath: m.tree.StatePath, Encryption: m.tree.Encryption, AutoEdges: m.tree.AutoEdges, Exports: m.tree.Exports}
	if s.StatePath != "" {
		at := source.FromHCL(m.tree.StateAt)
		s.StateAt = &at
	}
	return s
}

// Secrets returns the string forms of all sensitive values that are known without any
// state, sorted: variables and the local values computed from them. It omits empty
// texts and booleans.
func (m *Manifest) Secrets() []string { return m.instances.Modules.Secrets() }

// Hider returns what finds the values of Secrets of a manifest, in each form of them.
func Hider(m *Manifest) *secret.Hider { return m.instances.Modules.Hider() }

// Diagnose sets the range and the snippet of a diagnostic, and returns it. A nil
// range changes nothing.
func (m *Manifest) Diagnose(d *diag.Diagnostic, r *diag.Range) *diag.Diagnostic {
	return m.set.Diagnose(d, r)
}
