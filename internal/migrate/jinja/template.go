package jinja

import (
	"strings"
	"unicode"
)

// template parses a template: text with expressions and statements.
type template struct {
	text  string
	pos   int
	trim  bool // the last tag ended in -}}, so the text behind it loses its leading spaces
	depth int
}

// Template parses a text as Jinja2 does with its defaults: one newline at the end of the
// text is dropped.
func Template(text string) ([]Statement, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	t := &template{text: strings.TrimSuffix(text, "\n")}
	body, tag, err := t.body()
	if err == nil && tag != nil {
		err = tag.errorf(tag.tok.start, "unexpected %q", tag.tok.text)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// IsTemplate reports whether the original would evaluate a text.
func IsTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%")
}

// Alone returns the expression of a text that is nothing but one, which keeps its type.
func Alone(text string) (string, bool) {
	if strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}") && strings.Count(text, "{{") == 1 && len(text) >= 4 {
		return text[2 : len(text)-2], true
	}
	return "", false
}

// body parses statements up to a tag that none of them begins with, such as else or
// endif, and returns the parser that is at its name; nil at the end of the text.
func (t *template) body() (out []Statement, tag *parser, err error) {
	if t.depth++; t.depth > deepest {
		return nil, nil, t.errorf("the statements are nested too deep")
	}
	defer func() { t.depth-- }()
	for {
		open := t.plain(&out)
		if open == "" {
			return out, nil, nil
		}
		if open == "{#" {
			if err := t.comment(); err != nil {
				return nil, nil, err
			}
			continue
		}
		p := t.open(map[string]string{"{{": "}}", "{%": "%}"}[open])
		if open == "{{" {
			x := p.tuple()
			if err := t.close(p); err != nil {
				return nil, nil, err
			}
			out = append(out, Output{x})
			continue
		}
		s, isTag, err := t.statement(p)
		switch {
		case err != nil:
			return nil, nil, err
		case isTag:
			return out, p, nil
		case s != nil:
			out = append(out, s)
		}
	}
}

// plain takes the text up to the next tag, and returns how that opens: "" at the end.
func (t *template) plain(out *[]Statement) string {
	rest := t.text[t.pos:]
	at := -1
	for i := 0; i+1 < len(rest); i++ {
		if rest[i] == '{' && strings.IndexByte("{%#", rest[i+1]) >= 0 {
			at = i
			break
		}
	}
	open, text := "", rest
	if at >= 0 {
		open, text = rest[at:at+2], rest[:at]
	}
	t.pos += len(text) + len(open)
	if t.trim {
		text = trimLeft(text)
	}
	t.trim = false
	if open != "" && t.pos < len(t.text) {
		switch t.text[t.pos] {
		case '-':
			text = trimRight(text)
			t.pos++
		case '+':
			if open != "{{" { // there it is a sign
				t.pos++
			}
		}
	}
	if text != "" {
		*out = append(*out, Text{text})
	}
	return open
}

func (t *template) comment() error {
	n := strings.Index(t.text[t.pos:], "#}")
	if n < 0 {
		return t.errorf("the comment has no end")
	}
	t.trim = n > 0 && t.text[t.pos+n-1] == '-'
	t.pos += n + 2
	return nil
}

// open returns a parser for the inside of the tag that begins at the current place.
func (t *template) open(stop string) *parser {
	p := &parser{reader: reader{text: t.text, pos: t.pos, stop: stop}, depth: t.depth}
	p.advance()
	return p
}

// close takes the end of a tag.
func (t *template) close(p *parser) error {
	if p.err == nil && p.tok.kind != "end" {
		p.unexpected()
	}
	if p.err != nil {
		return p.err
	}
	rest := t.text[p.tok.start:]
	if rest == "" {
		return p.errorf(t.pos, "there is no %s", p.stop)
	}
	t.trim = rest[0] == '-'
	t.pos = p.tok.start + strings.Index(rest, p.stop) + len(p.stop)
	return nil
}

// tuple parses an expression, or several with commas between them.
func (p *parser) tuple() Node {
	x := p.expression()
	if !p.is(",") {
		return x
	}
	items := []Node{x}
	for p.skip(",") && p.tok.kind != "end" {
		items = append(items, p.expression())
	}
	return List{Items: items, Tuple: true}
}

func (t *template) errorf(format string, args ...any) *Error {
	r := reader{text: t.text}
	return r.errorf(t.pos, format, args...)
}

func trimLeft(text string) string  { return strings.TrimLeftFunc(text, unicode.IsSpace) }
func trimRight(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }
