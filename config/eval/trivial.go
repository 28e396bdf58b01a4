package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
)

// Bounds of a config that is seen to be harmless; larger ones are tried.
const (
	maxSimpleParts = 200
	maxSimpleText  = 64 << 10
	maxSimpleDepth = 8
)

// trivialCheck looks whether the config of an instance can be evaluated without a
// mistake as long as nothing is known of any resource, and sees it from what
// stands there: text, small numbers, variables that have a simple value, and
// states, of which nothing is known. To try such a config, as most are, takes
// ten times as long.
type trivialCheck struct {
	mod         *instance.Module
	parts, text int
}

func IsTrivial(i *instance.Instance) bool {
	a := i.Decl.Attrs["config"]
	if a == nil || i.Decl.Ignored.Any() || len(i.Decl.Before) > 0 || len(i.Decl.After) > 0 {
		return false
	}
	h := trivialCheck{mod: i.Mod}
	object, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	return ok && h.value(object, 0)
}

func (h *trivialCheck) value(expr hclsyntax.Expression, depth int) bool {
	if h.parts++; h.parts > maxSimpleParts || depth > maxSimpleDepth {
		return false
	}
	switch x := expr.(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, item := range x.Items {
			if !h.key(item.KeyExpr) || !h.value(item.ValueExpr, depth+1) {
				return false
			}
		}
		return true
	case *hclsyntax.TupleConsExpr:
		for _, item := range x.Exprs {
			if !h.value(item, depth+1) {
				return false
			}
		}
		return true
	case *hclsyntax.TemplateExpr:
		for _, part := range x.Parts {
			if !h.value(part, depth+1) {
				return false
			}
		}
		return true
	case *hclsyntax.LiteralValueExpr:
		return h.known(x.Val)
	case *hclsyntax.ScopeTraversalExpr:
		return h.reference(x.Traversal)
	}
	return false
}

// key is the name of an attribute that is written out.
func (h *trivialCheck) key(expr hclsyntax.Expression) bool {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	return ok && !key.ForceNonLiteral && hcl.ExprAsKeyword(key.Wrapped) != ""
}

// known is a value that can be written wherever text can.
func (h *trivialCheck) known(v cty.Value) bool {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return false
	}
	switch v.Type() {
	case cty.String:
		h.text += len(v.AsString())
		return h.text <= maxSimpleText
	case cty.Number:
		return limits.CheckNumber(v.AsBigFloat()) == nil && v.AsBigFloat().IsInt()
	case cty.Bool:
		return true
	}
	return false
}

// reference is to a variable with a known value, or to the state of the only
// instance of a resource. That it exists has been seen to.
func (h *trivialCheck) reference(t hcl.Traversal) bool {
	name := refs.StepName(t, 1)
	switch t.RootName() {
	case "var":
		v, ok := h.mod.Vars[name]
		return ok && len(t) == 2 && h.known(v.Value)
	case "resource":
		s := h.mod.Resources[name]
		return s != nil && !s.Pending && s.Repetition == instance.Once && len(t) > 2 && refs.StepName(t, 2) == "state"
	}
	return false
}
