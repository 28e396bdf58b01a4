package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// TypeMark is a mark on the value of type.NAME. A resource finds the type's settings
// by it, whatever expression the value passed through.
type TypeMark struct {
	Decl *decl.Block
	Mod  *instance.Module // the module that declares it
}

// staticValue evaluates an expression that may not use resources.
func (m *Modules) staticValue(expr hcl.Expression, want cty.Type, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	return m.staticAt(expr, want, decl.Usage{What: "this value", Static: true}, at)
}

func (m *Modules) staticAt(expr hcl.Expression, want cty.Type, p decl.Usage, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	if at.Res != nil {
		p.Repeated = &at.Res.Decl.Block
	}
	if diags := m.Checker.CheckRefs(expr, p, at.Mod.Decl); diags.HasErrors() {
		return cty.NilVal, diags
	}
	e := m.Evaluator(nil)
	e.markTypes = p.Types
	v, diags := e.Value(expr, at)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	if usesEachValue(m.Refs.References(expr)) && !v.IsWhollyKnown() && at.At.Of != nil {
		return cty.NilVal, hcl.Diagnostics{source.Failure(expr.Range(), "Known too late",
			"each.value is made of a resource here, and %s must be known before any resource is read. Use each.key or constants.",
			p.What)}
	}
	return ConvertTo(v, want, expr.Range(), p.What)
}

func usesEachValue(references []refs.Reference) bool {
	for _, ref := range references {
		if ref.Traversal.RootName() == "each" && refs.StepName(ref.Traversal, 1) == "value" {
			return true
		}
	}
	return false
}

// StaticAttr evaluates an attribute that must be known now. The result is cty.NilVal if
// the attribute is absent, null or in error, or unknown because of an error elsewhere.
func (m *Modules) StaticAttr(a *hcl.Attribute, want cty.Type, what string, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	return m.AttrAt(a, want, decl.Usage{What: what, Static: true}, at)
}

// AttrAt evaluates an attribute with a Usage, and without the restrictions of ShownAt.
func (m *Modules) AttrAt(a *hcl.Attribute, want cty.Type, p decl.Usage, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	if a == nil {
		return cty.NilVal, nil
	}
	v, diags := m.staticAt(a.Expr, want, p, at)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		return cty.NilVal, diags
	}
	return v, diags
}

// Optional is StaticAttr for a value that is shown to people or controls deployster:
// its marks would be lost there, so a sensitive value is an error.
func (m *Modules) Optional(a *hcl.Attribute, want cty.Type, what string, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	return m.ShownAt(a, want, decl.Usage{What: what, Static: true}, at)
}

// ShownAt evaluates an attribute with a Usage whose value is shown: a sensitive value is an error.
func (m *Modules) ShownAt(a *hcl.Attribute, want cty.Type, p decl.Usage, at instance.Scope) (cty.Value, hcl.Diagnostics) {
	v, diags := m.AttrAt(a, want, p, at)
	if v == cty.NilVal || !v.HasMarkDeep(values.Sensitive{}) {
		return v, diags
	}
	return cty.NilVal, append(diags, sensitiveShown(a, p))
}

func sensitiveShown(a *hcl.Attribute, p decl.Usage) *hcl.Diagnostic {
	return source.Failure(a.Expr.Range(), "A sensitive value would be printed",
		"%s cannot be sensitive, because it is shown in plans and messages.", values.Capital(p.What))
}
