package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
)

func newBody() *hclsyntax.Body {
	return &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, Blocks: hclsyntax.Blocks{}}
}

// finish says where a body is.
func (p *parser) finish(b *hclsyntax.Body, r hcl.Range) {
	b.SrcRange, b.EndRange = r, hcl.Range{Filename: p.file, Start: r.End, End: r.End}
}

// whole reads the file.
func (p *parser) whole() (*hclsyntax.Body, bool) {
	body := newBody()
	p.spaces()
	start := p.pos(p.at)
	for p.blank(); p.at < len(p.src); p.blank() {
		before := *p
		if p.item(body) {
			continue
		}
		if *p = before; !p.piece(body) {
			return nil, false
		}
	}
	p.finish(body, p.from(start))
	return body, true
}

// piece has hcl read from here to where a block seems to end. What it parses
// without a doubt is what it would parse among the rest: it stands on lines of
// its own, and whatever begins in it ends in it.
func (p *parser) piece(into *hclsyntax.Body) bool {
	length := bytes.Index(p.src[p.at:], []byte("\n}\n")) + len("\n}\n")
	if length < len("\n}\n") {
		return false
	}
	src := p.src[p.at : p.at+length]
	file, diags := hclsyntax.ParseConfig(src, p.file, p.pos(p.at))
	if len(diags) > 0 {
		return false
	}
	body := file.Body.(*hclsyntax.Body)
	limits.Metered(body)
	for _, a := range body.Attributes {
		if !set(into, a) {
			return false
		}
	}
	into.Blocks = append(into.Blocks, body.Blocks...)
	p.at += length
	p.line += bytes.Count(src, []byte("\n"))
	p.begin = p.at
	return true
}

// set adds an argument, unless there is one of that name.
func set(into *hclsyntax.Body, a *hclsyntax.Attribute) bool {
	if into.Attributes[a.Name] != nil {
		return false
	}
	into.Attributes[a.Name] = a
	return true
}

// item reads an argument or a block.
func (p *parser) item(into *hclsyntax.Body) bool {
	start := p.at
	name := p.name()
	if name == "" {
		return false
	}
	named := p.since(start)
	if p.spaces(); p.next(0) != '=' {
		block, ok := p.block(name, named)
		if ok {
			into.Blocks = append(into.Blocks, block)
		}
		return ok
	}
	equals := p.at
	if !p.assigns() {
		return false
	}
	a := &hclsyntax.Attribute{Name: name, NameRange: named, EqualsRange: p.since(equals)}
	p.spaces()
	var ok bool
	if a.Expr, ok = p.expression(); !ok {
		return false
	}
	a.SrcRange = p.from(named.Start)
	return p.ends() && set(into, a)
}

// assigns goes over an equals sign that is no part of another sign.
func (p *parser) assigns() bool {
	p.at++
	return p.next(0) != '=' && p.next(0) != '>'
}

// block reads a block from its labels on.
func (p *parser) block(kind string, named hcl.Range) (*hclsyntax.Block, bool) {
	b := &hclsyntax.Block{Type: kind, TypeRange: named}
	for ; p.next(0) != '{'; p.spaces() {
		start := p.at
		var label string
		if p.next(0) == '"' {
			p.at++
			from := p.at
			if p.literal(); p.next(0) != '"' {
				return nil, false
			}
			label = p.text[from:p.at]
			p.at++
		} else if label = p.name(); label == "" {
			return nil, false
		}
		b.Labels, b.LabelRanges = append(b.Labels, label), append(b.LabelRanges, p.since(start))
	}
	start := p.at
	p.at++
	b.OpenBraceRange = p.since(start)
	if p.spaces(); p.next(0) != '}' && (p.at == len(p.src) || !p.ends()) {
		return nil, false // an argument on the same line
	}
	b.Body = newBody()
	for p.blank(); p.next(0) != '}'; p.blank() {
		if !p.item(b.Body) {
			return nil, false
		}
	}
	start = p.at
	p.at++
	b.CloseBraceRange = p.since(start)
	p.finish(b.Body, p.from(b.OpenBraceRange.Start))
	return b, p.ends()
}
