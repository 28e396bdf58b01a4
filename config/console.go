package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/limits"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// consoleFile stands for the file name in errors about typed expressions.
const consoleFile = "<console>"

// Evaluate evaluates an expression that a person typed, as if it were the value of an
// output: it may use every declaration and the known states of resources. It returns
// text for a person, with the types of collections and without sensitive values. The
// text may hold control characters: the caller must make it safe for a terminal.
func (m *Manifest) Evaluate(text string, s States) (string, diag.Diagnostics) {
	var shown string
	var list hcl.Diagnostics
	failed := limits.Guard(func() {
		var v cty.Value
		if v, list = typedValue(m.instances.Modules, text, s); !list.HasErrors() {
			shown = values.Display(v)
		}
	})
	if failed != nil {
		return "", diag.Diagnostics{failed}
	}
	diags := m.instances.Modules.Convert(list)
	for _, d := range diags {
		if d.Range != nil && d.Range.Filename == consoleFile {
			d.Snippet = source.Snippet([]byte(text), *d.Range)
		}
	}
	return shown, diags
}

// typedValue evaluates a typed expression.
func typedValue(m *eval.Modules, text string, s States) (cty.Value, hcl.Diagnostics) {
	if d := limits.Native([]byte(text), consoleFile, false, hcl.InitialPos); d != nil {
		return cty.DynamicVal, hcl.Diagnostics{d}
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), consoleFile, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, source.FirstOfEach(diags)
	}
	limits.Metered(expr)
	if diags := m.Checker.CheckRefs(expr, decl.Usage{What: "an expression"}, m.Tree.Root); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	// It is evaluated as in the root manifest, with other functions.
	block, mod := *m.Tree.Root, *m.Top
	block.Functions, mod.Decl = m.Set.FunctionSet(m.Set.Reads, true), &block
	v, diags := m.Evaluator(s).Value(expr, mod.Scope())
	return v, append(diags, misusedType(expr)...)
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

// Unfinished reports whether the typed text lacks its end: an open bracket, quote or
// heredoc.
func Unfinished(text string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(text), consoleFile, hcl.InitialPos)
	open := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			open++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
			hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			open--
		}
	}
	return open > 0
}
