package config

import (
	"maps"
	"time"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/edges"
	"deployster/config/expand"
	"deployster/config/limits"
	"deployster/config/results"
	"deployster/config/trace"
	"deployster/internal/base/diag"
)

// Applying returns the manifest for the apply of its plan, which began at now:
// functions whose result differs each time have values then.
func (m *Manifest) Applying(now time.Time) *Manifest {
	next := *m
	next.instances = m.instances.Applying(now)
	return &next
}

// Config evaluates a resource's config against the known states of other resources. A
// resource without config has an empty one.
func (m *Manifest) Config(addr string, s States) (Resolved, diag.Diagnostics) {
	out, diags := evaluation{m.instances, s}.config(addr)
	if !diags.HasErrors() {
		m.scalars.convert(addr, &out)
	}
	return out, diags
}

// Outputs evaluates the outputs, sorted by name.
func (m *Manifest) Outputs(s States) ([]Output, diag.Diagnostics) {
	var out []Output
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { out, list = results.Outputs(m.instances.Modules.Evaluator(s)) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return out, m.instances.Modules.Convert(list)
}

// Checks evaluates all check blocks against the known states, those of the root
// before those of modules, each sorted by name. An assertion that fails, or that
// cannot be evaluated, is a warning: a check never blocks a run. So is what could not be read for it.
func (m *Manifest) Checks(s States, l Looked) ([]CheckResult, diag.Diagnostics) {
	if len(l.States) > 0 {
		s = maps.Clone(s)
		maps.Copy(s, l.States)
	}
	var out []CheckResult
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { out, list = results.Checks(m.instances.Modules.Evaluator(s), l.Failed) }); failed != nil {
		failed.Severity = diag.Warning
		return nil, diag.Diagnostics{failed}
	}
	return out, m.instances.Modules.Convert(list)
}

// Looked is what was read for checks, by the addresses of Lookups. What is in neither is not known yet.
type Looked struct {
	States States
	Failed map[string]string // why
}

// CheckedArtifacts returns the names of the artifacts that check blocks refer to, sorted.
func CheckedArtifacts(m *Manifest) (names []string, diags diag.Diagnostics) {
	if failed := limits.Guard(func() { names = edges.CheckedArtifacts(m.instances.Modules) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return names, nil
}

// Concludes reports whether Outputs or Checks have anything to evaluate.
func (m *Manifest) Concludes() bool { return m.instances.Concludes() }

// Inputs traces the value at a JSON pointer of a resource's config to everything that
// it is computed from: through locals, modules and the configs of other resources to
// variables and states. It returns nil if there is no such resource.
func (m *Manifest) Inputs(addr, pointer string, s States) []Input {
	i := m.instances.Find(addr)
	if i == nil {
		return nil
	}
	var found []Input
	if failed := limits.Guard(func() { found = trace.Inputs(m.instances.Modules.Evaluator(s), i, pointer) }); failed != nil {
		return nil
	}
	return found
}

// Locate returns where the manifest has the value at a JSON pointer of a resource's
// config, or its key: the nearest enclosing expression if the exact place is unknown.
// It returns nil if there is no such resource.
func (m *Manifest) Locate(addr, pointer string, key bool) *diag.Range {
	i := m.instances.Find(addr)
	if i == nil {
		return nil
	}
	return trace.Locate(m.instances.Modules.Evaluator(nil), i, pointer, key)
}

// Expand expands those of the given blocks of Pending for which s has all the states
// that they need, and the blocks that depend on their instances. It returns a new
// manifest, and does not change m. It also returns the blocks that stay unknown, because
// they depend on what will be created or changed.
func (m *Manifest) Expand(blocks []Pending, s States) (next *Manifest, unknown []Unknown, diags diag.Diagnostics) {
	next, diags = m.again(func() (*expand.Instances, hcl.Diagnostics) {
		next, found, list := m.instances.Expand(blocks, s)
		for _, u := range found {
			unknown = append(unknown, Unknown{u, m})
		}
		return next, list
	})
	return next, unknown, diags
}

// Unknown is a block of Pending whose instances stay unknown with the states that are known.
type Unknown struct {
	expand.Unknown
	of *Manifest
}

// Failure returns the error for a block whose instances never become known.
func (u Unknown) Failure() diag.Diagnostics {
	return u.of.instances.Modules.Convert(u.Unknown.Failure())
}

// With returns the manifest that Expand returned when the blocks in Pending had these
// instances, as a plan records them.
func (m *Manifest) With(pinned map[string]Instances) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.With(pinned) })
}

// again returns the manifest with other instances.
func (m *Manifest) again(expand func() (*expand.Instances, hcl.Diagnostics)) (*Manifest, diag.Diagnostics) {
	next := &Manifest{set: m.set, tree: m.tree, scalars: m.scalars}
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { next.instances, list = expand() }); failed != nil {
		return m, diag.Diagnostics{failed}
	}
	return next, next.instances.Modules.Convert(list)
}

// OutputReach returns, by the name of each output, what its value and its
// preconditions depend on.
func (m *Manifest) OutputReach() (map[string]Reach, diag.Diagnostics) {
	var found map[string]Reach
	if failed := limits.Guard(func() { found = edges.OutputReach(m.instances.Modules) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return found, nil
}
