package expand

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/internal/base/schedule"
	"deployster/internal/base/words"
)

// operation decodes an operation block.
func (m *Instances) operation(b *decl.Operation) (o instance.Operation, _ hcl.Diagnostics) {
	o.Name, o.Resource, o.Range = b.Name, b.On.Address, source.FromHCL(b.At)
	a := attrReader{m: m.Modules, attrs: b.Attrs, of: "an operation block", at: m.Modules.Top.Scope()}
	a.read("run", cty.String, func(v cty.Value) error {
		if o.Run = v.AsString(); o.Run == "" {
			return fmt.Errorf("the name of the operation is empty")
		}
		return nil
	})
	a.read("schedule", cty.String, func(v cty.Value) error {
		o.Schedule = v.AsString()
		_, err := schedule.Parse(o.Schedule)
		return err
	})
	input, more := results.StaticObject(m.Modules, b.Attrs["input"], "the input of an operation", a.at)
	o.Input = input
	return o, append(a.diags, more...)
}

// operationTargets returns an error for each operation on a resource that is not declared. Instances that are not known yet are
// left to the plan.
func (m *Instances) operationTargets() (diags hcl.Diagnostics) {
	for _, o := range m.Modules.Operations {
		if o.Resource == "" || len(m.Modules.Pending) > 0 {
			continue
		}
		var all []string
		known := false
		for _, r := range m.Resources {
			all, known = append(all, r.Address), known || r.Address == o.Resource
		}
		if !known {
			at := m.Modules.Top.Decl.Operations[o.Name].On.At
			diags = append(diags, source.Failure(at, "Undeclared resource", "The operation %q runs on %s, which is not declared.%s", o.Name,
				o.Resource, words.DidYouMean(o.Resource, all)))
		}
	}
	return diags
}
