package refs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The limits of a simple expression.
const (
	maxSimpleParts = 200
	maxSimpleText  = 64 << 10
	maxSimpleDepth = 8
)

// noFacts are the facts of an expression without references.
var noFacts = Facts{Simple: true}

// isConstant reports whether an expression is only a value: nearly every block has one.
func isConstant(expr hcl.Expression) bool {
	if t, ok := expr.(*hclsyntax.TemplateExpr); ok && len(t.Parts) == 1 {
		expr = t.Parts[0]
	}
	_, ok := expr.(*hclsyntax.LiteralValueExpr)
	return ok
}

// classifier visits once an expression of values, texts, lists, maps and references
// only, as most are, and determines whether it is simple.
type classifier struct {
	found       []hcl.Traversal // in the order of hclsyntax.Walk
	parts, text int
	complex     bool
}

// classified returns the facts of such an expression; false if it has other parts.
func classified(n hclsyntax.Node) (*Facts, bool) {
	c := classifier{}
	if !c.see(n, 0) {
		return nil, false
	}
	c.complex = c.complex || c.parts > maxSimpleParts || c.text > maxSimpleText
	if len(c.found) == 0 && !c.complex {
		return &noFacts, true
	}
	out := &Facts{Simple: !c.complex}
	if len(c.found) > 0 {
		out.refs = make([]Reference, len(c.found))
	}
	for i, t := range c.found {
		out.refs[i].Traversal = t
	}
	return out, true
}

func (c *classifier) see(n hclsyntax.Node, depth int) bool {
	c.parts++
	c.complex = c.complex || depth > maxSimpleDepth
	switch n := n.(type) {
	case *hclsyntax.LiteralValueExpr:
		c.literal(n.Val)
		return true
	case *hclsyntax.ScopeTraversalExpr:
		c.found = append(c.found, n.Traversal)
		return true
	case *hclsyntax.TemplateWrapExpr:
		c.complex = true
		return c.see(n.Wrapped, depth)
	case *hclsyntax.TemplateExpr:
		return c.all(n.Parts, depth)
	case *hclsyntax.TupleConsExpr:
		return c.all(n.Exprs, depth)
	case *hclsyntax.ObjectConsExpr:
		for _, item := range n.Items {
			if !c.key(item.KeyExpr) || !c.see(item.ValueExpr, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

func (c *classifier) all(list []hclsyntax.Expression, depth int) bool {
	for _, part := range list {
		if !c.see(part, depth+1) {
			return false
		}
	}
	return true
}

func (c *classifier) key(expr hclsyntax.Expression) bool {
	key, ok := expr.(*hclsyntax.ObjectConsKeyExpr)
	if !ok || key.ForceNonLiteral {
		return false
	}
	name := hcl.ExprAsKeyword(key.Wrapped)
	c.complex = c.complex || name == "" || !IsASCII(name)
	return name != "" || isConstant(key.Wrapped)
}

func (c *classifier) literal(v cty.Value) {
	if !IsSimpleValue(v) {
		c.complex = true
	} else if v.Type() == cty.String {
		c.text += len(v.AsString())
	}
}

// IsSimpleValue reports whether a value is ASCII text, a small whole number, true or false.
func IsSimpleValue(v cty.Value) bool {
	if v == cty.NilVal || v.IsMarked() || !v.IsKnown() || v.IsNull() {
		return false
	}
	switch v.Type() {
	case cty.String:
		return IsASCII(v.AsString())
	case cty.Bool:
		return true
	case cty.Number:
		n := v.AsBigFloat()
		return n.IsInt() && (n.Sign() == 0 && !n.Signbit() || n.Sign() != 0 && n.MantExp(nil) <= 50)
	}
	return false
}

// IsASCII reports whether a text is ASCII, which is the same in every normal form.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
