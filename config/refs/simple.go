package refs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// noFacts are the facts of an expression that has nothing to tell.
var noFacts facts

// isConstant reports whether an expression is only a value: there is one of them in
// nearly every block.
func isConstant(expr hcl.Expression) bool {
	if t, ok := expr.(*hclsyntax.TemplateExpr); ok && len(t.Parts) == 1 {
		expr = t.Parts[0]
	}
	_, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok
}

// simpleFacts are those of an expression made of values, texts, lists, maps and
// references only, as most are.
func simpleFacts(n hclsyntax.Node) (*facts, bool) {
	var found []hcl.Traversal
	if !simpleTraversals(n, &found) {
		return nil, false
	}
	if len(found) == 0 {
		return &noFacts, true
	}
	out := &facts{refs: make([]Reference, len(found))}
	for i, t := range found {
		out.refs[i].Traversal = t
	}
	return out, true
}

// simpleTraversals finds them in the order of hclsyntax.Walk.
func simpleTraversals(n hclsyntax.Node, into *[]hcl.Traversal) bool {
	switch n := n.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.ScopeTraversalExpr:
		*into = append(*into, n.Traversal)
		return true
	case *hclsyntax.TemplateWrapExpr:
		return simpleTraversals(n.Wrapped, into)
	case *hclsyntax.TemplateExpr:
		for _, part := range n.Parts {
			if !simpleTraversals(part, into) {
				return false
			}
		}
		return true
	case *hclsyntax.TupleConsExpr:
		for _, item := range n.Exprs {
			if !simpleTraversals(item, into) {
				return false
			}
		}
		return true
	case *hclsyntax.ObjectConsExpr:
		for _, item := range n.Items {
			key, ok := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr)
			if !ok || key.ForceNonLiteral || hcl.ExprAsKeyword(key.Wrapped) == "" && !isConstant(key.Wrapped) || !simpleTraversals(item.ValueExpr, into) {
				return false
			}
		}
		return true
	}
	return false
}
