package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// typeMark rides on the image of type.NAME to where a resource uses it, so that
// the type's settings are found whatever expression it went through.
type typeMark struct {
	block *block
	mod   *module // which declares it
}

// staticValue evaluates an expression that may use no resource.
func (m *modules) staticValue(expr hcl.Expression, want cty.Type, at site) (cty.Value, hcl.Diagnostics) {
	return m.staticAt(expr, want, place{what: "this value", static: true}, at)
}

func (m *modules) staticAt(expr hcl.Expression, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	if at.res != nil {
		p.repeated = &at.res.block.block
	}
	if diags := m.check.checkRefs(expr, p, at.mod.block, nil); diags.HasErrors() {
		return cty.NilVal, diags
	}
	e := m.evaluator(nil)
	e.markTypes = p.types
	v, diags := e.value(expr, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if usesEachValue(m.refs.references(expr)) && !v.IsWhollyKnown() && at.at.of != nil {
		return cty.NilVal, hcl.Diagnostics{failure(expr.Range(), "Known too late", "each.value is made of a resource here, and %s must be known before any resource is looked at. Use each.key, variables and constants.", p.what)}
	}
	return convertTo(v, want, expr.Range(), p.what)
}

func usesEachValue(refs []reference) bool {
	for _, ref := range refs {
		if ref.t.RootName() == "each" && stepName(ref.t, 1) == "value" {
			return true
		}
	}
	return false
}

// staticAttr evaluates an attribute that must be known now. The result is
// cty.NilVal when the attribute is absent, null, in error, or not known because
// of an error elsewhere.
func (m *modules) staticAttr(a *hcl.Attribute, want cty.Type, what string, at site) (cty.Value, hcl.Diagnostics) {
	return m.attrAt(a, want, place{what: what, static: true}, at)
}

func (m *modules) attrAt(a *hcl.Attribute, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		return cty.NilVal, nil
	}
	v, diags := m.staticAt(a.Expr, want, p, at)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		return cty.NilVal, diags
	}
	return v, diags
}

// optional is staticAttr for what is shown to people or steers the tool: a mark
// would be lost there, so that a sensitive value is refused.
func (m *modules) optional(a *hcl.Attribute, want cty.Type, what string, at site) (cty.Value, hcl.Diagnostics) {
	return m.shownAt(a, want, place{what: what, static: true}, at)
}

func (m *modules) shownAt(a *hcl.Attribute, want cty.Type, p place, at site) (cty.Value, hcl.Diagnostics) {
	v, diags := m.attrAt(a, want, p, at)
	if v == cty.NilVal || !v.HasMarkDeep(sensitive{}) {
		return v, diags
	}
	return cty.NilVal, append(diags, failure(a.Expr.Range(), "A sensitive value would be printed", "%s cannot be sensitive, because it is shown in plans and messages.", capital(p.what)))
}
