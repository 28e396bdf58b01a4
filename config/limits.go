package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The limits on what is read. HCL's parser recurses, and a Go program does not
// survive a stack overflow, so that depth must be known before it runs.
const (
	maxFileSize   = 1 << 20  // bytes in one manifest or variable file
	maxFiles      = 1000     // manifest files
	maxTotalSize  = 16 << 20 // bytes in all manifests
	maxTokens     = 100_000  // in one file
	maxDepth      = 100      // nested blocks, brackets and templates
	maxOperators  = 2000     // in one expression
	maxNumberText = 64       // characters of a number literal
	maxExponent   = 400      // of a number, either sign
	maxStringSize = 16 << 20 // bytes of text in one value
	maxElements   = 100_000  // elements in one value, at all levels
	maxChain      = 500      // references that lead from one to the next
)

// limitError makes the diagnostic of a limit that was passed.
func limitError(r hcl.Range, what string, limit int) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Too large to be read safely",
		Detail:   fmt.Sprintf("There are more %s than the limit, which is %d. Split it into smaller parts, or move data to a file of its own and read that with file().", what, limit),
		Subject:  &r,
	}
}

// scanNative looks at the tokens of native syntax before the recursive parser
// does. Lexical errors are left to the parser.
func scanNative(src []byte, filename string, template bool, start hcl.Pos) *hcl.Diagnostic {
	lex := hclsyntax.LexConfig
	if template {
		lex = hclsyntax.LexTemplate
	}
	tokens, _ := lex(src, filename, start)
	if len(tokens) > maxTokens {
		return limitError(tokens[maxTokens].Range, "words and signs in one file", maxTokens)
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

// scanFrame is one open bracket. Operators add to the depth of the expression
// tree, so that they are counted along the way down: a frame begins with the
// count of the one around it.
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
	if t.Type == hclsyntax.TokenOBrack && (s.last == hclsyntax.TokenCBrack || s.last == hclsyntax.TokenIdent || s.last == hclsyntax.TokenCParen) {
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
		if len(s.frames)+s.directives > maxDepth {
			return limitError(t.Range, "levels of nesting", maxDepth)
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
	if top.operators > maxOperators { // top may have been closed: then it was looked at before
		return limitError(t.Range, "operators in one expression", maxOperators)
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

// checkNumberText refuses numbers that would take minutes to write out.
func checkNumberText(text string, r hcl.Range) *hcl.Diagnostic {
	if len(text) > maxNumberText {
		return limitError(r, "characters in one number", maxNumberText)
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		if err == nil && (exp > maxExponent || exp < -maxExponent) {
			return limitError(r, "zeros in one number", maxExponent)
		}
	}
	return nil
}

// scanJSON does for JSON syntax what scanNative does, without caring for the
// syntax itself: brackets and numbers outside strings, and templates inside.
func scanJSON(src []byte, filename string) *hcl.Diagnostic {
	depth, tokens := 0, 0
	pos := hcl.Pos{Line: 1, Column: 1}
	for i := 0; i < len(src); {
		width := 1
		here := hcl.Range{Filename: filename, Start: pos, End: pos}
		switch c := src[i]; {
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return limitError(here, "levels of nesting", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			tokens++
		case c == '"':
			width = jsonStringWidth(src[i:])
			if d := scanJSONString(src[i:i+width], here); d != nil {
				return d
			}
		case c >= '0' && c <= '9':
			for i+width < len(src) && strings.IndexByte("0123456789.eE+-", src[i+width]) >= 0 {
				width++
			}
			if d := checkNumberText(string(src[i:i+width]), here); d != nil {
				return d
			}
		}
		if tokens > maxTokens {
			return limitError(here, "values in one file", maxTokens)
		}
		pos = advance(pos, src[i:i+width])
		i += width
	}
	return nil
}

func advance(pos hcl.Pos, text []byte) hcl.Pos {
	for _, c := range text {
		pos.Byte++
		pos.Column++
		if c == '\n' {
			pos.Line++
			pos.Column = 1
		}
	}
	return pos
}

// jsonStringWidth is the length of the string literal at the start of src,
// with its quotes.
func jsonStringWidth(src []byte) int {
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(src)
}

func scanJSONString(literal []byte, here hcl.Range) *hcl.Diagnostic {
	var text string
	if json.Unmarshal(literal, &text) != nil {
		text = string(literal) // let the parser say what is wrong with it
	}
	if !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
		return nil
	}
	return scanNative([]byte(text), here.Filename, true, here.Start)
}

// maxAliases is how often a YAML document may refer back to a part of itself.
// References to references multiply: the library has no bound of its own.
const maxAliases = 16

var yamlAlias = regexp.MustCompile(`(?m)(?:^|[\s\[,{])\*[^\s,\]}*]`)

// scanYAML bounds the nesting, the numbers and the aliases of a YAML document.
func scanYAML(text string) error {
	if d := scanJSON([]byte(text), ""); d != nil {
		return errors.New(d.Detail)
	}
	for line := range strings.Lines(text) {
		// "- - - -" costs two bytes a level, and indented blocks cost their indent.
		if strings.Contains(line, strings.Repeat("- ", maxDepth)) || strings.HasPrefix(line, strings.Repeat(" ", 8*maxDepth)) {
			return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
	}
	if len(yamlAlias.FindAllStringIndex(text, maxAliases+1)) > maxAliases {
		return fmt.Errorf("it has more than %d aliases (*name)", maxAliases)
	}
	return nil
}
