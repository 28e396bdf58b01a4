package jinja

var constants = map[string]any{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func (p *parser) primary() Node {
	t := p.tok
	switch {
	case t.kind == "name":
		p.advance()
		if v, ok := constants[t.text]; ok {
			return Literal{v}
		}
		return Name{t.text}
	case t.kind == "string":
		text := ""
		for ; p.tok.kind == "string"; p.advance() {
			text += p.tok.text
		}
		return Literal{text}
	case t.kind == "int", t.kind == "float":
		p.advance()
		return Literal{Number{t.text, t.kind == "float"}}
	case p.is("("):
		return p.parenthesised()
	case p.skip("["):
		return List{Items: p.items("]")}
	case p.skip("{"):
		return p.dict()
	}
	p.unexpected()
	return Literal{}
}

// parenthesised parses an expression in parentheses, or a tuple.
func (p *parser) parenthesised() Node {
	p.advance()
	if p.skip(")") {
		return List{Tuple: true}
	}
	x := p.expression()
	if p.skip(",") {
		return List{Items: append([]Node{x}, p.items(")")...), Tuple: true}
	}
	p.want(")")
	return x
}

// items parses expressions up to a bracket. The last may have a comma behind it.
func (p *parser) items(end string) (items []Node) {
	for p.err == nil && !p.is(end) {
		items = append(items, p.expression())
		if !p.skip(",") {
			break
		}
	}
	p.want(end)
	return items
}

func (p *parser) dict() Node {
	var d Dict
	for p.err == nil && !p.is("}") {
		d.Keys = append(d.Keys, p.expression())
		p.want(":")
		d.Values = append(d.Values, p.expression())
		if !p.skip(",") {
			break
		}
	}
	p.want("}")
	return d
}

// postfix parses what may follow an operand: attributes, indexes, calls.
func (p *parser) postfix(x Node) Node {
	for p.err == nil {
		switch {
		case p.skip("."):
			switch p.tok.kind {
			case "name":
				x = Attr{x, p.name()}
			case "int":
				x = Index{x, Literal{Number{Text: p.tok.text}}}
				p.advance()
			default:
				p.unexpected()
			}
		case p.skip("["):
			x = p.subscript(x)
		case p.skip("("):
			x = Call{x, p.args()}
		default:
			return x
		}
	}
	return x
}

// subscript parses an index or a slice.
func (p *parser) subscript(x Node) Node {
	var bounds [3]Node
	at, colons := 0, 0
	for p.err == nil && !p.is("]") {
		if p.skip(":") {
			colons++
			if at++; at > 2 {
				p.fail("a slice has at most three parts")
			}
			continue
		}
		if bounds[at] != nil {
			p.unexpected()
			break
		}
		if bounds[at] = p.expression(); p.is(",") {
			p.fail("several indexes have no meaning for a value of a manifest")
		}
	}
	p.want("]")
	if colons > 0 {
		return Slice{x, bounds[0], bounds[1], bounds[2]}
	}
	if bounds[0] == nil && p.err == nil {
		p.fail("an index is missing")
	}
	return Index{x, bounds[0]}
}

// args parses the arguments of a call, behind its opening parenthesis.
func (p *parser) args() (a Args) {
	for p.err == nil && !p.is(")") {
		switch {
		case p.is("*", "**"):
			p.advance()
			p.expression()
			a.Starred = true
		default:
			x := p.expression()
			name, isName := x.(Name)
			if isName && p.skip("=") {
				if a.Named == nil {
					a.Named = map[string]Node{}
				}
				if _, twice := a.Named[name.Name]; twice {
					p.fail("the argument %s is given twice", name.Name)
				}
				a.Named[name.Name] = p.expression()
			} else if len(a.Named) > 0 {
				p.fail("an argument without a name is behind one with a name")
			} else {
				a.Values = append(a.Values, x)
			}
		}
		if !p.skip(",") {
			break
		}
	}
	p.want(")")
	return a
}

// filters parses the filters, tests and calls behind an operand.
func (p *parser) filters(x Node) Node {
	for p.err == nil {
		switch {
		case p.skip("|"):
			f := Filter{X: x, Name: p.dotted()}
			if p.skip("(") {
				f.Args = p.args()
			}
			x = f
		case p.skipWord("is"):
			x = p.test(x)
		case p.skip("("):
			x = Call{x, p.args()}
		default:
			return x
		}
	}
	return x
}

func (p *parser) dotted() string {
	name := p.name()
	for p.skip(".") {
		name += "." + p.name()
	}
	return name
}

func (p *parser) test(x Node) Node {
	t := Test{X: x, Not: p.skipWord("not")}
	t.Name = "in"
	if !p.skipWord("in") {
		t.Name = p.dotted()
	}
	switch {
	case p.skip("("):
		t.Args = p.args()
	case p.tok.kind == "string", p.tok.kind == "int", p.tok.kind == "float", p.is("[", "{"),
		p.tok.kind == "name" && !p.word("else", "or", "and", "if", "is", "not", "in", "recursive"):
		t.Args.Values = []Node{p.postfix(p.primary())}
	case p.word("is"):
		p.fail("two tests need parentheses")
	}
	return t
}
