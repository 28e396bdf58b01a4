package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
)

// loopTrier evaluates the bodies of for expressions over collections of which only
// the type is known, with an unknown element. HCL skips those bodies, so that an
// error in them would appear only once the state is known.
type loopTrier struct {
	loops  []*hcl.EvalContext // the contexts of the current bodies; nil = nothing is known of the elements
	scopes []*hcl.EvalContext
	diags  hcl.Diagnostics
}

// tryLoops returns the errors in the bodies of such loops in an expression.
func tryLoops(expr hcl.Expression, ctx *hcl.EvalContext) hcl.Diagnostics {
	node, ok := expr.(hclsyntax.Node)
	if !ok {
		return nil
	}
	t := &loopTrier{scopes: []*hcl.EvalContext{ctx}}
	_ = hclsyntax.Walk(node, t) // it returns the diagnostics of Enter and Exit: none
	return t.diags
}

// Enter implements hclsyntax.Walker.
func (t *loopTrier) Enter(n hclsyntax.Node) hcl.Diagnostics {
	ctx := t.scopes[len(t.scopes)-1]
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		t.loops = append(t.loops, elementContext(n, ctx))
	case hclsyntax.ChildScope:
		if len(t.loops) == 0 {
			t.scopes = append(t.scopes, nil)
			break
		}
		body := t.loops[len(t.loops)-1]
		t.scopes = append(t.scopes, body)
		if expr, ok := n.Expr.(hcl.Expression); ok && body != nil {
			_, diags := limits.Evaluate(expr, body)
			t.diags = append(t.diags, diags...)
		}
	}
	return nil
}

// Exit implements hclsyntax.Walker.
func (t *loopTrier) Exit(n hclsyntax.Node) hcl.Diagnostics {
	switch n.(type) {
	case *hclsyntax.ForExpr:
		t.loops = t.loops[:len(t.loops)-1]
	case hclsyntax.ChildScope:
		t.scopes = t.scopes[:len(t.scopes)-1]
	}
	return nil
}

// elementContext returns the context of a loop's body if its collection is unknown
// and the type of its elements is known; otherwise nil.
func elementContext(n *hclsyntax.ForExpr, ctx *hcl.EvalContext) *hcl.EvalContext {
	if ctx == nil {
		return nil
	}
	list, diags := limits.Evaluate(n.CollExpr, ctx)
	if list, _ = list.Unmark(); diags.HasErrors() || list.IsKnown() || !list.Type().IsCollectionType() {
		return nil
	}
	body := ctx.NewChild()
	element := cty.UnknownVal(list.Type().ElementType())
	body.Variables = map[string]cty.Value{n.ValVar: element}
	if n.KeyVar != "" {
		key := cty.UnknownVal(cty.Number)
		switch {
		case list.Type().IsMapType():
			key = cty.UnknownVal(cty.String)
		case list.Type().IsSetType():
			key = element
		}
		body.Variables[n.KeyVar] = key
	}
	return body
}
