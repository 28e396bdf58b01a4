package jinja

import "slices"

// deepest is how deep expressions and statements may be nested.
const deepest = 100

// parser parses an expression: tok is the token that comes next.
type parser struct {
	reader
	tok   token
	depth int
	err   *Error // the first one; all tokens after it are the end
}

// Expression parses a text that is one expression.
func Expression(text string) (Node, error) {
	p := &parser{reader: reader{text: text}}
	p.advance()
	x := p.expression()
	if p.err == nil && p.tok.kind != "end" {
		p.unexpected()
	}
	if p.err != nil {
		return nil, p.err
	}
	return x, nil
}

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	t, err := p.next(p.tok.kind == "op" && p.tok.text == ".")
	if err != nil {
		p.failed(err)
		return
	}
	p.tok = t
}

func (p *parser) failed(err error) {
	if e, ok := err.(*Error); ok && p.err == nil {
		p.err = e
	}
	p.tok = token{kind: "end", start: len(p.text), after: len(p.text)}
}

func (p *parser) fail(format string, args ...any) {
	p.failed(p.errorf(p.tok.start, format, args...))
}

func (p *parser) unexpected() {
	if p.tok.kind == "end" {
		p.fail("the expression is not complete")
		return
	}
	p.fail("unexpected %q", p.text[p.tok.start:p.tok.after])
}

// is reports whether the next token is one of these operators.
func (p *parser) is(ops ...string) bool {
	return p.tok.kind == "op" && slices.Contains(ops, p.tok.text)
}

// word reports whether the next token is one of these names.
func (p *parser) word(names ...string) bool {
	return p.tok.kind == "name" && slices.Contains(names, p.tok.text)
}

// skip skips the next token if it is this operator.
func (p *parser) skip(op string) bool {
	if p.is(op) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) skipWord(name string) bool {
	if p.word(name) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) want(op string) {
	if !p.skip(op) {
		p.unexpected()
	}
}

// name takes the next token, which must be a name.
func (p *parser) name() string {
	if p.tok.kind != "name" {
		p.unexpected()
		return ""
	}
	name := p.tok.text
	p.advance()
	return name
}

// nested counts how deep the expression is, and fails if that is too deep.
func (p *parser) nested() func() {
	if p.depth++; p.depth > deepest {
		p.fail("the expression is nested too deep")
	}
	return func() { p.depth-- }
}

func (p *parser) expression() Node {
	defer p.nested()()
	x := p.or()
	for p.skipWord("if") {
		c := Cond{If: p.or(), Then: x}
		if p.skipWord("else") {
			c.Else = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() Node {
	x := p.and()
	for p.skipWord("or") {
		x = Binary{"or", x, p.and()}
	}
	return x
}

func (p *parser) and() Node {
	x := p.not()
	for p.skipWord("and") {
		x = Binary{"and", x, p.not()}
	}
	return x
}

func (p *parser) not() Node {
	defer p.nested()()
	if p.skipWord("not") {
		return Unary{"not", p.not()}
	}
	return p.compare()
}

func (p *parser) compare() Node {
	c := Compare{X: p.sum()}
	for p.err == nil {
		op := p.tok.text
		switch {
		case p.is("==", "!=", "<", "<=", ">", ">="), p.word("in"):
			p.advance()
		case p.word("not"):
			if p.advance(); !p.skipWord("in") {
				p.unexpected()
			}
			op = "not in"
		default:
			op = ""
		}
		if op == "" {
			break
		}
		c.Ops, c.Ys = append(c.Ops, op), append(c.Ys, p.sum())
	}
	if len(c.Ops) == 0 {
		return c.X
	}
	return c
}

func (p *parser) sum() Node {
	x := p.concat()
	for p.is("+", "-") {
		op := p.tok.text
		p.advance()
		x = Binary{op, x, p.concat()}
	}
	return x
}

func (p *parser) concat() Node {
	parts := []Node{p.product()}
	for p.skip("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return Concat{parts}
}

func (p *parser) product() Node {
	x := p.power()
	for p.is("*", "/", "//", "%") {
		op := p.tok.text
		p.advance()
		x = Binary{op, x, p.power()}
	}
	return x
}

func (p *parser) power() Node {
	x := p.unary(true)
	for p.skip("**") {
		x = Binary{"**", x, p.unary(true)}
	}
	return x
}

// unary parses an operand. Filters bind to it with its sign, as in Jinja2.
func (p *parser) unary(filters bool) (x Node) {
	defer p.nested()()
	switch {
	case p.is("-", "+"):
		op := p.tok.text
		p.advance()
		x = Unary{op, p.unary(false)}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	if filters {
		x = p.filters(x)
	}
	return x
}
