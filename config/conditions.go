package config

import (
	"deployster/config/decl"
	"deployster/config/expand"
	"deployster/internal/base/diag"
)

// Conditions are the preconditions and postconditions of a resource.
type Conditions struct {
	instances *expand.Instances
	addr      string
}

// Conditions returns the conditions of a resource.
func (m *Manifest) Conditions(addr string) Conditions { return Conditions{m.instances, addr} }

// Any reports whether there are preconditions, and postconditions. Callers skip those of a
// resource that has none.
func (c Conditions) Any() (before, after bool) {
	i := c.instances.Find(c.addr)
	return i != nil && len(i.Decl.Before) > 0, i != nil && len(i.Decl.After) > 0
}

// Before evaluates the preconditions against the known states of other resources. Each one
// that is not met is an error. open holds the references whose values the undecided ones
// still need.
func (c Conditions) Before(s States) (open []string, diags diag.Diagnostics) {
	return evaluation{c.instances, s}.judge(c.addr, func(r *decl.Resource) []decl.Condition { return r.Before })
}

// After evaluates the postconditions against the resource's final state, which s must have.
func (c Conditions) After(s States) (open []string, diags diag.Diagnostics) {
	return evaluation{c.instances, s}.judge(c.addr, func(r *decl.Resource) []decl.Condition { return r.After })
}
