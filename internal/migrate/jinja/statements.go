package jinja

import (
	"regexp"
	"slices"
)

// ends are tags that end a body.
var ends = []string{"else", "elif", "endif", "endfor"}

// statement parses the statement at whose name a parser is. isTag: it is one that ends a
// body, which its caller parses.
func (t *template) statement(p *parser) (s Statement, isTag bool, err error) {
	if p.err != nil {
		return nil, false, p.err
	}
	if p.tok.kind != "name" {
		p.unexpected()
		return nil, false, p.err
	}
	if slices.Contains(ends, p.tok.text) {
		return nil, true, nil
	}
	name := p.name()
	switch name {
	case "if":
		s, err = t.conditional(p)
	case "for":
		s, err = t.loop(p)
	case "set":
		s, err = t.set(p)
	case "include":
		s, err = t.include(p)
	case "raw":
		s, err = t.raw(p)
	default:
		e := p.errorf(p.tok.start, "the statement {%% %s %%} has no counterpart", name)
		e.Unsupported = true
		err = e
	}
	return s, false, err
}

// tag parses a body, and takes the tag that ends it, which has to be one of these.
func (t *template) tag(begun string, names ...string) ([]Statement, *parser, string, error) {
	body, p, err := t.body()
	if err != nil {
		return nil, nil, "", err
	}
	if p == nil {
		return nil, nil, "", t.errorf("the statement {%% %s %%} has no end", begun)
	}
	if !p.word(names...) {
		p.unexpected()
		return nil, nil, "", p.err
	}
	return body, p, p.name(), nil
}

func (t *template) conditional(p *parser) (Statement, error) {
	var out If
	name := "if"
	for {
		b := Branch{}
		if name != "else" {
			b.Cond = p.tuple()
		}
		if err := t.close(p); err != nil {
			return nil, err
		}
		names := []string{"elif", "else", "endif"}
		if name == "else" {
			names = names[2:]
		}
		body, next, found, err := t.tag("if", names...)
		if err != nil {
			return nil, err
		}
		if b.Body = body; name == "else" {
			out.Else = body
		} else {
			out.Branches = append(out.Branches, b)
		}
		if p, name = next, found; name == "endif" {
			return out, t.close(p)
		}
	}
}

func (t *template) loop(p *parser) (Statement, error) {
	var out For
	brackets := p.skip("(")
	for ok := true; ok; ok = p.skip(",") {
		out.Targets = append(out.Targets, p.name())
	}
	if brackets {
		p.want(")")
	}
	if !p.skipWord("in") {
		p.unexpected()
	}
	// Only a condition behind "if" is the filter of the loop: without else it is not an inline if.
	if out.In = p.or(); p.is(",") {
		items := []Node{out.In}
		for p.skip(",") && p.tok.kind != "end" && !p.word("if") {
			items = append(items, p.or())
		}
		out.In = List{Items: items, Tuple: true}
	}
	if p.skipWord("if") {
		out.Filter = p.expression()
	}
	if p.word("recursive") {
		e := p.errorf(p.tok.start, "a recursive loop has no counterpart")
		e.Unsupported = true
		p.failed(e)
	}
	if err := t.close(p); err != nil {
		return nil, err
	}
	body, next, found, err := t.tag("for", "else", "endfor")
	if err != nil {
		return nil, err
	}
	out.Body = body
	if found == "else" {
		if err := t.close(next); err != nil {
			return nil, err
		}
		if out.Else, next, _, err = t.tag("for", "endfor"); err != nil {
			return nil, err
		}
	}
	return out, t.close(next)
}

func (t *template) set(p *parser) (Statement, error) {
	name := p.name()
	if p.err == nil && (p.is(".", ",", "|") || p.tok.kind == "end") {
		e := p.errorf(p.tok.start, "only {%% set NAME = EXPRESSION %%} has a counterpart")
		e.Unsupported = true
		return nil, e
	}
	p.want("=")
	value := p.tuple()
	return Set{name, value}, t.close(p)
}

func (t *template) include(p *parser) (Statement, error) {
	x := p.expression()
	out := Include{}
	if p.skipWord("ignore") {
		if out.IgnoreMissing = true; !p.skipWord("missing") {
			p.unexpected()
		}
	}
	for _, word := range []string{"with", "without"} {
		if p.skipWord(word) {
			if !p.skipWord("context") {
				p.unexpected()
			}
			if word == "without" {
				e := p.errorf(p.tok.start, "an include without context has no counterpart")
				e.Unsupported = true
				p.failed(e)
			}
		}
	}
	if err := t.close(p); err != nil {
		return nil, err
	}
	lit, _ := x.(Literal)
	name, ok := lit.Value.(string)
	if !ok {
		e := p.errorf(p.tok.start, "an include of a computed name has no counterpart")
		e.Unsupported = true
		return nil, e
	}
	out.Name = name
	return out, nil
}

var endraw = regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`)

func (t *template) raw(p *parser) (Statement, error) {
	if err := t.close(p); err != nil {
		return nil, err
	}
	at := endraw.FindStringIndex(t.text[t.pos:])
	if at == nil {
		return nil, t.errorf("the statement {%% raw %%} has no end")
	}
	text, end := t.text[t.pos:t.pos+at[0]], t.text[t.pos+at[0]:t.pos+at[1]]
	if t.trim {
		text = trimLeft(text)
	}
	if end[2] == '-' {
		text = trimRight(text)
	}
	t.trim = end[len(end)-3] == '-'
	t.pos += at[1]
	return Text{text}, nil
}
