package source

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// atUnclosed replaces the errors of a file that ends too early by one error at the
// bracket that was never closed: the end of the file is not where the mistake is.
func atUnclosed(src []byte, filename string, diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Subject == nil || d.Subject.End.Byte < len(src) || d.Summary == "Unclosed configuration block" {
			continue
		}
		open, found := lastOpen(src, filename)
		if !found {
			return diags
		}
		return hcl.Diagnostics{Failure(open, "Unclosed bracket", "%s", fmt.Sprintf("This %s is never closed: the file ends before its %s.",
			string(open.SliceBytes(src)), closing[string(open.SliceBytes(src))]))}
	}
	return diags
}

// closing has the closing bracket of each opening one.
var closing = map[string]string{"{": "}", "[": "]", "(": ")"}

// lastOpen returns the innermost bracket that is open at the end of a file.
func lastOpen(src []byte, filename string) (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	var open []hcl.Range
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			open = append(open, t.Range)
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
			hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			if len(open) == 0 {
				return hcl.Range{}, false
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return hcl.Range{}, false
	}
	last := open[len(open)-1]
	_, bracket := closing[string(last.SliceBytes(src))] // hcl has a better message for an unclosed text
	return last, bracket
}
