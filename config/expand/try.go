package expand

import (
	"maps"
	"runtime"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/results"
)

// tryAll evaluates everything with unknown states, so that errors that do not depend
// on states are found before anything runs. After the first error in an instance of a
// block, it skips the other instances.
func (m *Instances) tryAll(e *eval.Evaluator) hcl.Diagnostics {
	diags := m.tryInstances()
	m.Modules.Top.Each(func(mod *instance.Module) {
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Checks)) {
			check := mod.Decl.Checks[name]
			for _, c := range check.Asserts {
				diags = append(diags, results.Mistakes(e, c, mod.Checking(check))...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Outputs)) {
			_, _, d := results.Output(e, mod.Decl.Outputs[name], mod)
			diags = append(diags, d...)
			for _, c := range mod.Decl.Outputs[name].Before {
				diags = append(diags, results.Mistakes(e, c, mod.Scope())...)
			}
		}
		if mod.Caller != nil {
			for _, name := range slices.Sorted(maps.Keys(mod.Decl.Variables)) {
				_, d := e.Variable(name, mod)
				diags = append(diags, d...)
			}
		}
	})
	return diags
}

// tryInstances does so for the resources, on all processors.
func (m *Instances) tryInstances() hcl.Diagnostics {
	parts := min(runtime.GOMAXPROCS(0), 1+len(m.List)/500)
	found := make([]hcl.Diagnostics, parts)
	var group errgroup.Group
	for part := range parts {
		group.Go(func() error {
			list := m.List[len(m.List)*part/parts : len(m.List)*(part+1)/parts]
			if p := limits.Guard(func() { found[part] = m.tryList(list) }); p != nil {
				found[part] = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: p.Summary, Detail: p.Detail}}
			}
			return nil
		})
	}
	_ = group.Wait() // errors are in found
	return slices.Concat(found...)
}

func (m *Instances) tryList(list []*instance.Instance) hcl.Diagnostics {
	var diags hcl.Diagnostics
	e := m.Modules.Evaluator(nil)
	e.Dry = true
	failed := map[*decl.Resource]bool{}
	for _, i := range list {
		if failed[i.Decl] || m.Modules.IsTrivial(i) {
			continue
		}
		value, _, d := results.Config(e, i)
		if !d.HasErrors() {
			d = append(d, i.Decl.Ignored.Check(value)...)
		}
		for _, c := range i.Decl.Conditions() {
			d = append(d, results.Mistakes(e, c, i.Scope())...)
		}
		diags = append(diags, d...)
		failed[i.Decl] = d.HasErrors()
	}
	return diags
}
