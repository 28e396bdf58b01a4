package config

import (
	"github.com/zclconf/go-cty/cty"
)

func (m *modules) findSecrets() []string {
	var out []string
	m.top.each(func(mod *module) {
		for _, v := range mod.vars {
			out = append(out, secretsIn(v.value)...)
		}
		for _, v := range mod.locals {
			out = append(out, secretsIn(v.value)...)
		}
		for _, t := range mod.block.types {
			if a := t.attrs["env"]; a != nil {
				if v, diags := m.staticValue(a.Expr, cty.DynamicPseudoType, mod.site()); !diags.HasErrors() {
					out = append(out, secretsIn(v)...)
				}
			}
		}
	})
	return longestFirst(out)
}
