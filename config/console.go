package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
	"deployster/config/results"
	"deployster/config/source"
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
		_, shown, list = results.Typed(m.instances.Modules, text, consoleFile, s)
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
