package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/diag"
)

// Applying is the manifest for the apply of a plan of it, which is known to have
// begun at a time: what is different each time has values then.
func (m *Manifest) Applying(now time.Time) *Manifest {
	return &Manifest{set: m.set, tree: m.tree, in: m.in.applying(now)}
}

// Config evaluates a resource's config against what is known of the others'
// states. A resource without config has an empty one.
func (m *Manifest) Config(addr string, s Scope) (Resolved, diag.Diagnostics) {
	i := m.in.find(addr)
	if i == nil {
		return Resolved{}, diag.Diagnostics{diag.Errorf("Unknown resource", "There is no resource %q in the manifest.", addr)}
	}
	if out, ok := m.in.plainly(i, s); ok {
		return out, nil
	}
	var out Resolved
	diags, ok := m.of(addr, func() (list hcl.Diagnostics) { _, out, list = m.in.evaluator(s).config(i); return list })
	if !ok {
		return Resolved{}, diags
	}
	return out, diags
}

// of evaluates something of a resource: what is wrong is told with its address.
// Where f did not come to its end, ok is false, and f's results are not to be read.
func (m *Manifest) of(addr string, f func() hcl.Diagnostics) (diags diag.Diagnostics, ok bool) {
	var list hcl.Diagnostics
	if failed := guardIn(m.set.pool, func() { list = f() }); failed != nil {
		failed.Address = addr
		return diag.Diagnostics{failed}, false
	}
	diags = m.in.convert(list)
	for _, d := range diags {
		d.Address = addr
	}
	return diags, true
}

// Outputs evaluates the outputs, sorted by name.
func (m *Manifest) Outputs(s Scope) ([]Output, diag.Diagnostics) {
	var out []Output
	var list hcl.Diagnostics
	if failed := guard(func() { out, list = m.in.evaluator(s).outputs() }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return out, m.in.convert(list)
}

// Checks holds all checks to what is known, those of the root before those of
// modules, each sorted by name. An assertion that fails, or that cannot be
// evaluated, is a warning: a check keeps nothing from being done.
func (m *Manifest) Checks(s Scope) ([]CheckResult, diag.Diagnostics) {
	var out []CheckResult
	var list hcl.Diagnostics
	if failed := guard(func() { out, list = m.in.evaluator(s).checks() }); failed != nil {
		failed.Severity = diag.Warning
		return nil, diag.Diagnostics{failed}
	}
	return out, m.in.convert(list)
}

// Concludes reports whether there is anything that Outputs or Checks evaluate.
func (m *Manifest) Concludes() bool { return m.in.concludes() }

// Conditional reports whether a resource has preconditions, and postconditions: for
// one without there is nothing to be found out before it is held to them.
func (m *Manifest) Conditional(addr string) (before, after bool) {
	i := m.in.find(addr)
	return i != nil && len(i.block.before) > 0, i != nil && len(i.block.after) > 0
}

// Preconditions holds a resource's preconditions to what is known of others.
// Those that are not met are errors. Open are the references that keep others
// from being decided.
func (m *Manifest) Preconditions(addr string, s Scope) (open []string, diags diag.Diagnostics) {
	return m.judge(addr, s, func(r *resource) []condition { return r.before })
}

// Postconditions holds a resource's postconditions to what became of it: its
// own state must be in the scope.
func (m *Manifest) Postconditions(addr string, s Scope) (open []string, diags diag.Diagnostics) {
	return m.judge(addr, s, func(r *resource) []condition { return r.after })
}

func (m *Manifest) judge(addr string, s Scope, which func(*resource) []condition) ([]string, diag.Diagnostics) {
	i := m.in.find(addr)
	if i == nil || len(which(i.block)) == 0 {
		return nil, nil
	}
	var open []string
	diags, ok := m.of(addr, func() (list hcl.Diagnostics) {
		open, list = m.in.evaluator(s).judgeList(which(i.block), i.site())
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
func (m *Manifest) Inputs(addr, pointer string, s Scope) []Input {
	i := m.in.find(addr)
	if i == nil {
		return nil
	}
	var found []Input
	if failed := guard(func() { found = m.in.evaluator(s).inputs(i, pointer) }); failed != nil {
		return nil
	}
	return found
}

// Locate says where the value at a JSON pointer of a resource's config is
// written: the nearest enclosing thing that is, if not exactly. It is nil when
// there is no such resource.
func (m *Manifest) Locate(addr, pointer string) *diag.Range {
	i := m.in.find(addr)
	if i == nil {
		return nil
	}
	return m.in.evaluator(nil).locate(i, pointer)
}

// Expand expands those of the given blocks of Pending for which scope has all
// that they need, and what depends on their instances. It gives a new manifest,
// and leaves this one as it is. A key that is still unknown, because a resource
// that it is made of is to be created or changed, is an error.
func (m *Manifest) Expand(blocks []Pending, s Scope) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*instances, hcl.Diagnostics) { return m.in.expand(blocks, s) })
}

// With gives the manifest that Expand came to when the instances of the blocks
// in Pending were found to be these, as a plan remembers them.
func (m *Manifest) With(pinned map[string]Instances) (*Manifest, diag.Diagnostics) {
	return m.again(func() (*instances, hcl.Diagnostics) { return m.in.with(pinned) })
}

// again is the manifest with other instances.
func (m *Manifest) again(expand func() (*instances, hcl.Diagnostics)) (*Manifest, diag.Diagnostics) {
	next := &Manifest{set: m.set, tree: m.tree}
	var list hcl.Diagnostics
	if failed := guard(func() { next.in, list = expand() }); failed != nil {
		return m, diag.Diagnostics{failed}
	}
	return next, next.in.convert(list)
}

// OutputReach says of each output what its value and its preconditions are made
// of, by name.
func (m *Manifest) OutputReach() (map[string]Reach, diag.Diagnostics) {
	var found map[string]Reach
	if failed := guard(func() { found = m.in.outputReach() }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return found, nil
}
