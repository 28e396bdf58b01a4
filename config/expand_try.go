package config

import (
	"maps"
	"runtime"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"
)

// tryAll evaluates everything with nothing known of any resource, so that a
// mistake that does not depend on the world is found before anything runs. Of
// the instances of a block, those before the first mistake.
func (m *instances) tryAll(e *evaluator) hcl.Diagnostics {
	diags := m.tryInstances()
	m.top.each(func(mod *module) {
		for _, name := range slices.Sorted(maps.Keys(mod.block.checks)) {
			for _, c := range mod.block.checks[name].asserts {
				diags = append(diags, e.mistakes(c, mod.site())...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(mod.block.outputs)) {
			_, _, d := e.output(mod.block.outputs[name], mod)
			diags = append(diags, d...)
			for _, c := range mod.block.outputs[name].before {
				diags = append(diags, e.mistakes(c, mod.site())...)
			}
		}
		if mod.caller != nil {
			for _, name := range slices.Sorted(maps.Keys(mod.block.variables)) {
				_, d := e.variable(name, mod)
				diags = append(diags, d...)
			}
		}
	})
	return diags
}

// tryInstances does so with the resources, on all processors.
func (m *instances) tryInstances() hcl.Diagnostics {
	parts := min(runtime.GOMAXPROCS(0), 1+len(m.list)/500)
	found := make([]hcl.Diagnostics, parts)
	var group errgroup.Group
	for part := range parts {
		group.Go(func() error {
			list := m.list[len(m.list)*part/parts : len(m.list)*(part+1)/parts]
			if p := guard(func() { found[part] = m.tryList(list) }); p != nil {
				found[part] = hcl.Diagnostics{{Severity: hcl.DiagError, Summary: p.Summary, Detail: p.Detail}}
			}
			return nil
		})
	}
	_ = group.Wait() // mistakes are in found
	return slices.Concat(found...)
}

func (m *instances) tryList(list []*instance) hcl.Diagnostics {
	var diags hcl.Diagnostics
	e := m.evaluator(nil)
	e.dry = true
	failed := map[*resource]bool{}
	for _, i := range list {
		if failed[i.block] || i.harmless() {
			continue
		}
		value, _, d := e.config(i)
		if !d.HasErrors() {
			d = append(d, i.block.ignored.check(value)...)
		}
		for _, c := range i.block.conditions() {
			d = append(d, e.mistakes(c, i.site())...)
		}
		diags = append(diags, d...)
		failed[i.block] = d.HasErrors()
	}
	return diags
}
