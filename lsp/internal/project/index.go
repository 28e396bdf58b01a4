package project

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Symbol is something that has a name in the manifests of a directory.
type Symbol struct {
	Dir  string // absolute
	Kind string // the name with which references to it begin; "output" for an output
	Name string
}

// The kinds of symbols that are treated in ways of their own.
const (
	Variable = "var"
	Local    = "local"
	Type     = "type"
	Resource = "resource"
	Module   = "module"
	Publish  = "publish"
	Output   = "output"
)

// Decl is the declaration of a symbol.
type Decl struct {
	Symbol
	At     hcl.Range        // of the name, without quotes
	Header hcl.Range        // of the block's header, or of the attribute's name
	Whole  hcl.Range        // of the block, or of the attribute
	Block  *hclsyntax.Block // nil = it is an attribute
	// Unnamed: no reference names it, as a policy block. Its Kind is the type of the block.
	Unnamed bool
}

// Ref is a reference to a symbol.
type Ref struct {
	Symbol
	At    hcl.Range // of the name alone
	Whole hcl.Range // of the address: resource.web
	// Via is the module block by which the symbol is in another directory; "" = it is in this one.
	Via string
	// Moved: it is an address of the past or the future, in a moved or removed block.
	Moved bool
}

// index finds what a file declares and what it refers to.
type index struct {
	dir   string
	kinds map[string]string // the roots of references by the type of the block
	roots map[string]bool
	// unnamed are the types of blocks that have a name and that no reference names.
	unnamed map[string]bool
	decls   []Decl
	refs    []Ref
	moved   bool // in a moved or removed block
}

func (x *index) file(body *hclsyntax.Body) {
	for _, block := range body.Blocks {
		x.block(block)
	}
}

func (x *index) block(b *hclsyntax.Block) {
	kind := x.kinds[b.Type]
	switch {
	case b.Type == "locals":
		for _, a := range b.Body.Attributes {
			x.decls = append(x.decls, Decl{Symbol{x.dir, Local, a.Name}, a.NameRange, a.NameRange, a.SrcRange, nil, false})
		}
	case kind != "" && len(b.Labels) == 1:
		at := unquoted(b.LabelRanges[0], b.Labels[0])
		x.decls = append(x.decls, Decl{Symbol{x.dir, kind, b.Labels[0]}, at, b.DefRange(), b.Range(), b, x.unnamed[b.Type]})
		if kind == Module {
			x.inputs(b)
		}
	}
	x.moved = b.Type == "moved" || b.Type == "removed"
	_ = hclsyntax.VisitAll(b.Body, func(n hclsyntax.Node) hcl.Diagnostics {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			x.reference(e.Traversal)
		}
		return nil
	})
}

// inputs adds the variables that a module block sets.
func (x *index) inputs(b *hclsyntax.Block) {
	for _, a := range b.Body.Attributes {
		switch a.Name {
		case "source", "for_each", "count", "enabled", "depends_on":
		default:
			x.refs = append(x.refs, Ref{Symbol: Symbol{x.dir, Variable, a.Name}, At: a.NameRange, Whole: a.NameRange, Via: b.Labels[0]})
		}
	}
}

// values adds the variables that a file of values sets.
func (x *index) values(body *hclsyntax.Body) {
	for _, a := range body.Attributes {
		x.refs = append(x.refs, Ref{Symbol: Symbol{x.dir, Variable, a.Name}, At: a.NameRange, Whole: a.NameRange})
	}
}

// reference adds what a reference names: resource.web, and of module.a.out both the module and its output.
func (x *index) reference(t hcl.Traversal) {
	root := t.RootName()
	if !x.roots[root] || len(t) < 2 {
		return
	}
	name, at := step(t[1])
	if name == "" {
		return
	}
	whole := hcl.RangeBetween(t[0].SourceRange(), t[1].SourceRange())
	x.refs = append(x.refs, Ref{Symbol: Symbol{x.dir, root, name}, At: at, Whole: whole, Moved: x.moved})
	if root != Module || x.moved {
		return
	}
	rest := t[2:]
	if len(rest) > 0 {
		if _, index := rest[0].(hcl.TraverseIndex); index { // one instance
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		if out, at := step(rest[0]); out != "" {
			x.refs = append(x.refs, Ref{Symbol: Symbol{x.dir, Output, out}, At: at,
				Whole: hcl.RangeBetween(t[0].SourceRange(), rest[0].SourceRange()), Via: name})
		}
	}
}

// step returns the name in a step of a reference, and its place without the dot, or the brackets and quotes.
func step(s hcl.Traverser) (string, hcl.Range) {
	switch s := s.(type) {
	case hcl.TraverseAttr:
		at := s.SrcRange
		if n := at.End.Byte - at.Start.Byte - len(s.Name); n > 0 { // the dot, and spaces
			at.Start.Byte, at.Start.Column = at.Start.Byte+n, at.Start.Column+n
		}
		return s.Name, at
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			at := s.SrcRange
			at.Start.Byte, at.End.Byte = at.Start.Byte+2, at.End.Byte-2
			if at.End.Byte-at.Start.Byte == len(s.Key.AsString()) {
				return s.Key.AsString(), at
			}
		}
	}
	return "", hcl.Range{}
}

// unquoted returns the place of a label without its quotes, if it has any.
func unquoted(r hcl.Range, label string) hcl.Range {
	if r.End.Byte-r.Start.Byte == len(label)+2 {
		r.Start.Byte, r.Start.Column = r.Start.Byte+1, r.Start.Column+1
		r.End.Byte, r.End.Column = r.End.Byte-1, r.End.Column-1
	}
	return r
}

// Address returns a symbol as references name it.
func (s Symbol) Address() string { return s.Kind + "." + s.Name }

// Attribute returns an attribute of a body as text that is constant, "" if it is not.
func Attribute(body *hclsyntax.Body, name string) string {
	a := body.Attributes[name]
	if a == nil || len(a.Expr.Variables()) > 0 {
		return ""
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	return strings.TrimSpace(v.AsString())
}
