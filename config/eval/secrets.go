package eval

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/values"
)

func (m *Modules) findSecrets() []string {
	var out []string
	m.Top.Each(func(mod *instance.Module) {
		for _, v := range mod.Vars {
			out = append(out, values.SecretsIn(v.Value)...)
		}
		for _, v := range mod.Locals {
			out = append(out, values.SecretsIn(v.Value)...)
		}
		for _, a := range mod.Decl.Artifacts {
			for _, name := range []string{"source", "params"} {
				if attr := a.Attrs[name]; attr != nil {
					if v, diags := m.staticValue(attr.Expr, cty.DynamicPseudoType, mod.Scope()); !diags.HasErrors() {
						out = append(out, values.SecretsIn(v)...)
					}
				}
			}
		}
		for _, t := range mod.Decl.Types {
			if a := t.Attrs["env"]; a != nil {
				if v, diags := m.staticValue(a.Expr, cty.DynamicPseudoType, mod.Scope()); !diags.HasErrors() {
					out = append(out, values.SecretsIn(v)...)
				}
			}
		}
	})
	out = append(out, m.Remotes.secrets()...)
	slices.Sort(out)
	return slices.Compact(out)
}
