package config

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/expand"
	"deployster/config/limits"
	"deployster/config/results"
	"deployster/internal/base/diag"
)

// evaluation evaluates expressions of resources against the known states of others.
type evaluation struct {
	instances *expand.Instances
	known     States
}

// config evaluates the config of a resource, without converting its scalars.
func (e evaluation) config(addr string) (Resolved, diag.Diagnostics) {
	i := e.instances.Find(addr)
	if i == nil {
		return Resolved{}, diag.Diagnostics{diag.Errorf("Unknown resource", "There is no resource %q in the manifest.", addr)}
	}
	if out, ok := e.instances.Modules.Simple(i, e.known); ok {
		return out, nil
	}
	out, diags := e.notSimple(addr)
	if !diags.HasErrors() || !e.known.Expects() {
		return out, diags
	}
	// The config may refer to a value that the present state lacks and the final state may have.
	if cautious, more := (evaluation{e.instances, e.known.WithoutExpected()}).notSimple(addr); !more.HasErrors() {
		return cautious, more
	}
	return out, diags
}

// notSimple evaluates a config that eval.Modules.Simple does not.
func (e evaluation) notSimple(addr string) (out Resolved, diags diag.Diagnostics) {
	i := e.instances.Find(addr)
	diags, ok := e.guarded(addr, func(of *eval.Evaluator) (list hcl.Diagnostics) { _, out, list = results.Config(of, i); return list })
	if !ok {
		return Resolved{}, diags
	}
	return out, diags
}

// judge evaluates conditions of a resource.
func (e evaluation) judge(addr string, which func(*decl.Resource) []decl.Condition) (open []string, diags diag.Diagnostics) {
	i := e.instances.Find(addr)
	if i == nil || len(which(i.Decl)) == 0 {
		return nil, nil
	}
	diags, ok := e.guarded(addr, func(of *eval.Evaluator) (list hcl.Diagnostics) {
		open, list = results.JudgeList(of, which(i.Decl), i.Scope())
		return list
	})
	if !ok {
		return nil, diags
	}
	return open, diags
}

// guarded runs an evaluation for a resource, and adds the resource's address to its
// diagnostics. If f did not finish, ok is false, and the caller must not use f's results.
func (e evaluation) guarded(addr string, f func(*eval.Evaluator) hcl.Diagnostics) (diags diag.Diagnostics, ok bool) {
	modules := e.instances.Modules
	var list hcl.Diagnostics
	if failed := limits.GuardIn(modules.Set.Pool, func() { list = f(modules.Evaluator(e.known)) }); failed != nil {
		failed.Address = addr
		return diag.Diagnostics{failed}, false
	}
	diags = modules.Convert(list)
	for _, d := range diags {
		d.Address = addr
	}
	return diags, true
}
