package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/expand"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/trace"
	"deployster/internal/base/diag"
)

// Applying is the manifest for the apply of a plan of it, which is known to have
// begun at a time: what is different each time has values then.
func (m *Manifest) Applying(now time.Time) *Manifest {
	next := *m
	next.instances = m.instances.Applying(now)
	return &next
}

// Config evaluates a resource's config against what is known of the others'
// states. A resource without config has an empty one.
func (m *Manifest) Config(addr string, s States) (Resolved, diag.Diagnostics) {
	out, diags := resolved(m, addr, s)
	if m.typeOf != nil && !diags.HasErrors() {
		out.Value = m.converter.Convert(m.typeOf(addr).ConfigSchema, out.Value, out.Unknown)
	}
	return out, diags
}

// resolved evaluates a config as it is written.
func resolved(m *Manifest, addr string, s States) (Resolved, diag.Diagnostics) {
	i := m.instances.Find(addr)
	if i == nil {
		return Resolved{}, diag.Diagnostics{diag.Errorf("Unknown resource", "There is no resource %q in the manifest.", addr)}
	}
	if out, ok := m.instances.Simple(i, s); ok {
		return out, nil
	}
	out, diags := m.config(addr, i, s)
	if !diags.HasErrors() || !s.Expects() {
		return out, diags
	}
	// It may refer to what a state does not have now, and may have at the end.
	if cautious, more := m.config(addr, i, s.WithoutExpected()); !more.HasErrors() {
		return cautious, more
	}
	return out, diags
}

// config evaluates a config that is not simple.
func (m *Manifest) config(addr string, i *instance.Instance, s States) (out Resolved, diags diag.Diagnostics) {
	diags, ok := m.of(addr, func() (list hcl.Diagnostics) { _, out, list = m.instances.Evaluator(s).Config(i); return list })
	if !ok {
		return Resolved{}, diags
	}
	return out, diags
}

// of evaluates something of a resource: what is wrong is told with its address.
// Where f did not come to its end, ok is false, and f's results are not to be read.
func (m *Manifest) of(addr string, f func() hcl.Diagnostics) (diags diag.Diagnostics, ok bool) {
	var list hcl.Diagnostics
	if failed := limits.GuardIn(m.set.Pool, func() { list = f() }); failed != nil {
		failed.Address = addr
		return diag.Diagnostics{failed}, false
	}
	diags = m.instances.Convert(list)
	for _, d := range diags {
		d.Address = addr
	}
	return diags, true
}

// Outputs evaluates the outputs, sorted by name.
func (m *Manifest) Outputs(s States) ([]Output, diag.Diagnostics) {
	var out []Output
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { out, list = m.instances.Evaluator(s).Outputs() }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return out, m.instances.Convert(list)
}

// Checks holds all checks to what is known, those of the root before those of
// modules, each sorted by name. An assertion that fails, or that cannot be
// evaluated, is a warning: a check keeps nothing from being done.
func (m *Manifest) Checks(s States) ([]CheckResult, diag.Diagnostics) {
	var out []CheckResult
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { out, list = m.instances.Evaluator(s).Checks() }); failed != nil {
		failed.Severity = diag.Warning
		return nil, diag.Diagnostics{failed}
	}
	return out, m.instances.Convert(list)
}

// CheckedArtifacts are the names of the artifacts of which check blocks say something, sorted.
func CheckedArtifacts(m *Manifest) (names []string, diags diag.Diagnostics) {
	if failed := limits.Guard(func() { names = expand.CheckedArtifacts(m.instances) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return names, nil
}

// Concludes reports whether there is anything that Outputs or Checks evaluate.
func (m *Manifest) Concludes() bool { return m.instances.Concludes() }

// Conditional reports whether a resource has preconditions, and postconditions: for
// one without there is nothing to be found out before it is held to them.
func (m *Manifest) Conditional(addr string) (before, after bool) {
	i := m.instances.Find(addr)
	return i != nil && len(i.Decl.Before) > 0, i != nil && len(i.Decl.After) > 0
}

// Preconditions holds a resource's preconditions to what is known of others.
// Those that are not met are errors. Open are the references that keep others
// from being decided.
func (m *Manifest) Preconditions(addr string, s States) (open []string, diags diag.Diagnostics) {
	return judge(m, addr, s, func(r *decl.Resource) []decl.Condition { return r.Before })
}

// Postconditions holds a resource's postconditions to what became of it: its
// own state must be in the scope.
func (m *Manifest) Postconditions(addr string, s States) (open []string, diags diag.Diagnostics) {
	return judge(m, addr, s, func(r *decl.Resource) []decl.Condition { return r.After })
}

func judge(m *Manifest, addr string, s States, which func(*decl.Resource) []decl.Condition) ([]string, diag.Diagnostics) {
	i := m.instances.Find(addr)
	if i == nil || len(which(i.Decl)) == 0 {
		return nil, nil
	}
	var open []string
	diags, ok := m.of(addr, func() (list hcl.Diagnostics) {
		open, list = m.instances.Evaluator(s).JudgeList(which(i.Decl), i.Scope())
		return list
	})
	if !ok {
		return nil, diags
	}
	return open, diags
}

// Inputs follows the value at a JSON pointer of a resource's config to all that
// it is made of: through locals, modules and the configs of other resources to
// variables and states. It is empty when there is no such resource.
func (m *Manifest) Inputs(addr, pointer string, s States) []Input {
	i := m.instances.Find(addr)
	if i == nil {
		return nil
	}
	var found []Input
	if failed := limits.Guard(func() { found = trace.Inputs(m.instances.Evaluator(s), i, pointer) }); failed != nil {
		return nil
	}
	return found
}

// Locate says where the value at a JSON pointer of a resource's config is
// written, or its key: the nearest enclosing thing that is, if not exactly. It
// is nil when there is no such resource.
func (m *Manifest) Locate(addr, pointer string, key bool) *diag.Range {
	i := m.instances.Find(addr)
	if i == nil {
		return nil
	}
	return trace.Locate(m.instances.Evaluator(nil), i, pointer, key)
}

// Expand expands those of the given blocks of Pending for which scope has all
// that they need, and what depends on their instances. It gives a new manifest,
// and leaves this one as it is. A key that is still unknown, because a resource
// that it is made of is to be created or changed, is an error.
func (m *Manifest) Expand(blocks []Pending, s States) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.Expand(blocks, s) })
}

// With gives the manifest that Expand came to when the instances of the blocks
// in Pending were found to be these, as a plan remembers them.
func (m *Manifest) With(pinned map[string]Instances) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*expand.Instances, hcl.Diagnostics) { return m.instances.With(pinned) })
}

// again is the manifest with other instances.
func (m *Manifest) again(expand func() (*expand.Instances, hcl.Diagnostics)) (*Manifest, diag.Diagnostics) {
	next := &Manifest{set: m.set, tree: m.tree, typeOf: m.typeOf, converter: m.converter}
	var list hcl.Diagnostics
	if failed := limits.Guard(func() { next.instances, list = expand() }); failed != nil {
		return m, diag.Diagnostics{failed}
	}
	return next, next.instances.Convert(list)
}

// OutputReach says of each output what its value and its preconditions are made
// of, by name.
func (m *Manifest) OutputReach() (map[string]Reach, diag.Diagnostics) {
	var found map[string]Reach
	if failed := limits.Guard(func() { found = m.instances.OutputReach() }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return found, nil
}
