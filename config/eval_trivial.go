package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
)

// Bounds of a config that is seen to be harmless; larger ones are tried.
const (
	maxHarmlessParts = 200
	maxHarmlessText  = 64 << 10
	maxHarmlessDepth = 8
)

// harmless looks whether the config of an instance can be evaluated without a
// mistake as long as nothing is known of any resource, and sees it from what
// stands there: text, small numbers, variables that have a simple value, and
// states, of which nothing is known. To try such a config, as most are, takes
// ten times as long.
type harmless struct {
	mod         *module
	parts, text int
}

func (i *instance) harmless() bool {
	a := i.block.attrs["config"]
	if a == nil || i.block.ignored.some() || len(i.block.before) > 0 || len(i.block.after) > 0 {
		return false
	}
	h := harmless{mod: i.mod}
	object, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	return ok && h.value(object, 0)
}

func (h *harmless) value(expr hclsyntax.Expression, depth int) bool {
	if h.parts++; h.parts > maxHarmlessParts || depth > maxHarmlessDepth {
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
func (h *harmless) key(expr hclsyntax.Expression) bool {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	return ok && !key.ForceNonLiteral && hcl.ExprAsKeyword(key.Wrapped) != ""
}

// known is a value that can be written wherever text can.
func (h *harmless) known(v cty.Value) bool {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() {
		return false
	}
	switch v.Type() {
	case cty.String:
		h.text += len(v.AsString())
		return h.text <= maxHarmlessText
	case cty.Number:
		return limits.CheckNumber(v.AsBigFloat()) == nil && v.AsBigFloat().IsInt()
	case cty.Bool:
		return true
	}
	return false
}

// reference is to a variable with a known value, or to the state of the only
// instance of a resource. That it exists has been seen to.
func (h *harmless) reference(t hcl.Traversal) bool {
	name := stepName(t, 1)
	switch t.RootName() {
	case "var":
		v, ok := h.mod.vars[name]
		return ok && len(t) == 2 && h.known(v.value)
	case "resource":
		s := h.mod.resources[name]
		return s != nil && !s.pending && s.repetition == once && len(t) > 2 && stepName(t, 2) == "state"
	}
	return false
}
