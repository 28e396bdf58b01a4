package results

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/source"
	"deployster/config/values"
)

// Typed returns the value of an expression that a person typed, and the text that shows it. Errors name the file.
func Typed(m *eval.Modules, text, file string, s instance.States) (v cty.Value, shown string, diags hcl.Diagnostics) {
	if d := limits.Native([]byte(text), file, false, hcl.InitialPos); d != nil {
		return cty.DynamicVal, "", hcl.Diagnostics{d}
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), file, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, "", source.FirstOfEach(diags)
	}
	limits.Metered(expr)
	if diags := m.Checker.CheckRefs(expr, decl.Usage{What: "an expression"}, m.Tree.Root); diags.HasErrors() {
		return cty.DynamicVal, "", diags
	}
	// It is evaluated as in the root manifest, with other functions.
	block, mod := *m.Tree.Root, *m.Top
	block.Functions, mod.Decl = m.Set.FunctionSet(m.Set.Reads, true), &block
	v, diags = m.Evaluator(s).Value(expr, mod.Scope())
	if diags = append(diags, misusedType(expr)...); diags.HasErrors() {
		return cty.DynamicVal, "", diags
	}
	return v, values.Display(v), diags
}

// misusedType returns an error for each type() inside an expression: it returns text for people.
func misusedType(expr hclsyntax.Expression) hcl.Diagnostics {
	var diags hcl.Diagnostics
	_ = hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && call.Name == "type" && n != hclsyntax.Node(expr) {
			diags = append(diags, source.Failure(call.Range(), "Misplaced type()",
				"type() prints the type of a value, and nothing can be computed with it: write it alone, around the whole expression."))
		}
		return nil
	})
	return diags
}
