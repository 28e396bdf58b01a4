package limits

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Native checks the tokens of native syntax, or of a template, before the recursive
// parser does. It returns nil if they are within the limits. It leaves lexical errors
// to the parser.
func Native(src []byte, filename string, template bool, start hcl.Pos) *hcl.Diagnostic {
	if small(src) {
		return nil
	}
	return byTokens(src, filename, template, start)
}

func byTokens(src []byte, filename string, template bool, start hcl.Pos) *hcl.Diagnostic {
	if at := signs(src); at >= 0 {
		r := hcl.Range{Filename: filename, Start: start, End: start}
		for _, pos := range []*hcl.Pos{&r.Start, &r.End} {
			*pos = advance(*pos, src[:at])
		}
		return Exceeded(r, "words and signs in one file, those in its text included", Signs)
	}
	lex := hclsyntax.LexConfig
	if template {
		lex = hclsyntax.LexTemplate
	}
	tokens, _ := lex(src, filename, start)
	if len(tokens) > Tokens {
		return Exceeded(tokens[Tokens].Range, "words and signs in one file", Tokens)
	}
	s := tokenScan{frames: []scanFrame{{}}}
	for i, t := range tokens {
		var next hclsyntax.Token
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		if d := s.token(t, next); d != nil {
			return d
		}
	}
	return nil
}

// small reports whether a text is too small to exceed any limit, by one pass over its
// bytes. Most blocks are, and their tokens would cost a hundred times as much.
func small(src []byte) bool {
	if len(src) > Operators {
		return false
	}
	opening, digits := 0, 0
	for i, c := range src {
		switch {
		case bytes.IndexByte([]byte("{[(\"<"), c) >= 0: // each opens two levels at most: "%{ if" is a bracket and a directive
			opening++
		case c >= '0' && c <= '9':
			digits++
		case (c == 'e' || c == 'E') && i > 0 && src[i-1] >= '0' && src[i-1] <= '9': // possibly an exponent
			return false
		}
	}
	return 2*opening < Depth && digits < NumberText
}

// signs returns the offset at which a text exceeds the limit Signs, -1 if it does
// not. A token of one byte takes a hundred times as much memory, so signs counts
// roughly before the text is tokenized.
func signs(src []byte) int {
	n, word := 0, false
	for i, c := range src {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
		if letter && word || c == ' ' || c == '\t' {
			word = letter
			continue
		}
		word = letter
		if n++; n > Signs {
			return i
		}
	}
	return -1
}

// scanFrame is one open bracket. Operators add to the depth of the expression tree, so they
// are counted from the outside in: a frame begins with the count of the one around it.
type scanFrame struct {
	base, operators int
	lines           bool // a newline ends an expression here
}

type tokenScan struct {
	frames     []scanFrame
	directives int // open %{ if } and %{ for }
	last       hclsyntax.TokenType
}

func (s *tokenScan) token(t, next hclsyntax.Token) *hcl.Diagnostic {
	top := &s.frames[len(s.frames)-1]
	if t.Type == hclsyntax.TokenOBrack && (s.last == hclsyntax.TokenCBrack || s.last == hclsyntax.TokenIdent ||
		s.last == hclsyntax.TokenCParen) {
		top.operators++ // an index: a[b][c] is a tree as deep as it is long
	}
	s.last = t.Type
	switch t.Type {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
		hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		s.frames = append(s.frames, scanFrame{top.operators, top.operators, t.Type == hclsyntax.TokenOBrace})
		if t.Type == hclsyntax.TokenTemplateControl {
			s.directive(string(next.Bytes))
		}
		if len(s.frames)+s.directives > Depth {
			return Exceeded(t.Range, "levels of nesting", Depth)
		}
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if len(s.frames) > 1 {
			s.frames = s.frames[:len(s.frames)-1]
		}
	case hclsyntax.TokenComma:
		top.operators = top.base
	case hclsyntax.TokenNewline:
		if top.lines || len(s.frames) == 1 {
			top.operators = top.base
		}
	case hclsyntax.TokenNumberLit:
		return checkNumberText(string(t.Bytes), t.Range)
	case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
		hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual,
		hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq,
		hclsyntax.TokenQuestion:
		top.operators++
	}
	if top.operators > Operators { // if top is closed, it was checked before
		return Exceeded(t.Range, "operators in one expression", Operators)
	}
	return nil
}

func (s *tokenScan) directive(word string) {
	switch word {
	case "if", "for":
		s.directives++
	case "endif", "endfor":
		s.directives = max(s.directives-1, 0)
	}
}
