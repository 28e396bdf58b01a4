package syntax

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// expression reads one that has no operators, calls or indexes. What comes after
// it is for its reader to look at: there one of those would be seen.
func (p *parser) expression() (hclsyntax.Expression, bool) {
	switch c := p.next(0); {
	case c == '"':
		return p.quoted()
	case c == '{':
		return p.object()
	case c == '[':
		return p.tuple()
	case isDigit(c):
		return p.number()
	default:
		return p.reference()
	}
}

// number reads digits, with others after a point or not.
func (p *parser) number() (hclsyntax.Expression, bool) {
	start := p.at
	for isDigit(p.next(0)) {
		p.at++
	}
	if p.next(0) == '.' && isDigit(p.next(1)) {
		for p.at++; isDigit(p.next(0)); {
			p.at++
		}
	}
	value, err := cty.ParseNumberVal(p.text[start:p.at])
	return &hclsyntax.LiteralValueExpr{Val: value, SrcRange: p.since(start)}, err == nil
}

// reference reads names with points between them, or a word for a value.
func (p *parser) reference() (hclsyntax.Expression, bool) {
	start := p.at
	root := p.name()
	r := p.since(start)
	switch root {
	case "", "for":
		return nil, false
	case "true":
		return &hclsyntax.LiteralValueExpr{Val: cty.True, SrcRange: r}, p.next(0) != '.'
	case "false":
		return &hclsyntax.LiteralValueExpr{Val: cty.False, SrcRange: r}, p.next(0) != '.'
	case "null":
		return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: r}, p.next(0) != '.'
	}
	if p.next(0) != '.' {
		t := &rooted{steps: [1]hcl.Traverser{hcl.TraverseRoot{Name: root, SrcRange: r}}}
		t.Traversal, t.SrcRange = t.steps[:], r
		return &t.ScopeTraversalExpr, true
	}
	steps := make(hcl.Traversal, 0, 1+p.points())
	steps = append(steps, hcl.TraverseRoot{Name: root, SrcRange: r})
	for p.next(0) == '.' {
		point := p.at
		p.at++
		name := p.name()
		if name == "" {
			return nil, false
		}
		steps = append(steps, hcl.TraverseAttr{Name: name, SrcRange: p.since(point)})
	}
	return &hclsyntax.ScopeTraversalExpr{Traversal: steps, SrcRange: p.since(start)}, true
}

// points counts the points between the names that follow.
func (p *parser) points() int {
	n := 0
	for _, c := range p.src[p.at:] {
		if c == '.' {
			n++
		} else if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' {
			break
		}
	}
	return n
}

// literal goes over text that means itself.
func (p *parser) literal() {
	for p.at < len(p.src) {
		if c := p.src[p.at]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '$' || c == '%' {
			return
		}
		p.at++
	}
}

// rooted is a name without others after it, in one piece of memory.
type rooted struct {
	hclsyntax.ScopeTraversalExpr
	steps [1]hcl.Traverser
}

// plain is a text with nothing to fill in, in one piece of memory.
type plain struct {
	hclsyntax.TemplateExpr
	parts [1]hclsyntax.Expression
	value hclsyntax.LiteralValueExpr
}

// quoted reads a text, with references in it or not.
func (p *parser) quoted() (hclsyntax.Expression, bool) {
	start := p.at
	p.at++
	from := p.at
	if p.literal(); p.next(0) == '"' {
		t := &plain{value: hclsyntax.LiteralValueExpr{Val: cty.StringVal(p.text[from:p.at]), SrcRange: p.since(from)}}
		if p.at++; p.at == from+1 {
			t.value.SrcRange = p.since(p.at) // hcl has it that an empty text is after its quotes
		}
		t.parts[0] = &t.value
		t.Parts, t.SrcRange = t.parts[:], p.since(start)
		return &t.TemplateExpr, true
	}
	var parts []hclsyntax.Expression
	for p.at = from; p.next(0) != '"'; {
		from = p.at
		if p.literal(); p.at > from {
			parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.StringVal(p.text[from:p.at]), SrcRange: p.since(from)})
			continue
		}
		if !strings.HasPrefix(p.text[p.at:], "${") {
			return nil, false
		}
		p.at += len("${")
		p.spaces()
		e, ok := p.reference()
		if p.spaces(); !ok || p.next(0) != '}' {
			return nil, false
		}
		p.at++
		parts = append(parts, e)
	}
	p.at++
	if len(parts) == 1 { // and that is a reference
		return &hclsyntax.TemplateWrapExpr{Wrapped: parts[0], SrcRange: p.since(start)}, true
	}
	return &hclsyntax.TemplateExpr{Parts: parts, SrcRange: p.since(start)}, true
}

// tuple reads a list.
func (p *parser) tuple() (hclsyntax.Expression, bool) {
	start := p.pos(p.at)
	p.at++
	t := &hclsyntax.TupleConsExpr{OpenRange: p.from(start)}
	for p.blank(); p.next(0) != ']'; p.blank() {
		e, ok := p.expression()
		if !ok {
			return nil, false
		}
		t.Exprs = append(t.Exprs, e)
		p.blank()
		if p.next(0) == ',' {
			p.at++
		} else if p.next(0) != ']' {
			return nil, false
		}
	}
	p.at++
	t.SrcRange = p.from(start)
	return t, true
}

// object reads a map.
func (p *parser) object() (hclsyntax.Expression, bool) {
	start := p.pos(p.at)
	p.at++
	o, before := &hclsyntax.ObjectConsExpr{OpenRange: p.from(start)}, len(p.items)
	for p.blank(); p.next(0) != '}'; p.blank() {
		key, ok := p.key()
		if p.spaces(); !ok || !p.separates() {
			return nil, false
		}
		p.spaces()
		value, ok := p.expression()
		if !ok {
			return nil, false
		}
		p.items = append(p.items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
		if p.ends() {
			continue
		}
		if p.next(0) == ',' {
			p.at++
		} else if p.next(0) != '}' {
			return nil, false
		}
	}
	p.at++
	o.SrcRange = p.from(start)
	o.Items = append(o.Items, p.items[before:]...)
	p.items = p.items[:before]
	return o, true
}

// key reads what stands before an equals sign in a map.
func (p *parser) key() (hclsyntax.Expression, bool) {
	var e hclsyntax.Expression
	var ok bool
	if p.next(0) == '"' {
		e, ok = p.quoted()
	} else {
		e, ok = p.reference()
	}
	return &hclsyntax.ObjectConsKeyExpr{Wrapped: e}, ok
}

// separates goes over what stands between a key and its value.
func (p *parser) separates() bool {
	if p.next(0) == ':' {
		p.at++
		return p.next(0) != ':'
	}
	return p.next(0) == '=' && p.assigns()
}
