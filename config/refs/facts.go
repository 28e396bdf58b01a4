package refs

import (
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/funcs"
)

// Reference is a traversal in an expression.
type Reference struct {
	Traversal hcl.Traversal
	// Open: a computed key indexes the value of the traversal.
	Open bool
	// Key is the computed key right after resource.NAME or module.NAME, and Rest the
	// steps after it: resource.disk[each.key].state.size. If the key uses variables
	// of a for expression, Splat and Open are set instead.
	Key  hcl.Expression
	Rest hcl.Traversal
	// Splat: Rest is read of every instance, as in resource.NAME[*].state.
	Splat bool
}

// Index has the facts of expressions; it finds those of each once.
type Index struct {
	source func(filename string) ([]byte, bool) // of a file
	found  sync.Map                             // hcl.Expression -> *Facts
}

// NewIndex returns an index of expressions in files; text returns the bytes of a file.
func NewIndex(text func(filename string) ([]byte, bool)) *Index { return &Index{source: text} }

// Facts holds the facts of an expression.
type Facts struct {
	refs []Reference
	// Impure holds the functions that it calls whose results differ each time,
	// sorted, each once.
	Impure []string
	// Loops: it may have for expressions. Repeats: it may have parts whose
	// evaluations package limits counts.
	Loops, Repeats bool
	// Simple: it consists of simple values, lists, maps with names as keys, and
	// references, and is not large.
	Simple bool
}

// References returns the references of an expression.
func (x *Index) References(expr hcl.Expression) []Reference { return x.Facts(expr).refs }

// Facts returns the facts of an expression.
func (x *Index) Facts(expr hcl.Expression) *Facts {
	if isConstant(expr) {
		return &noFacts
	}
	if got, ok := x.found.Load(expr); ok {
		return got.(*Facts)
	}
	var out *Facts
	if native, ok := expr.(hclsyntax.Node); ok {
		out = nativeFacts(native)
	} else if object, ok := expr.(*Object); ok {
		out = x.objectFacts(object)
	} else {
		out = &Facts{Impure: x.impureText(expr), Loops: true, Repeats: true}
		if IsJSON(expr) {
			out.refs = x.jsonReferences(expr)
		} else {
			for _, t := range expr.Variables() {
				out.refs = append(out.refs, Reference{Traversal: t})
			}
		}
	}
	x.found.Store(expr, out)
	return out
}

// jsonReferences returns the references in the templates of an expression in JSON syntax.
func (x *Index) jsonReferences(expr hcl.Expression) []Reference {
	var out []Reference
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			out = append(out, x.References(pair.Key)...)
			out = append(out, x.References(pair.Value)...)
		}
		return out
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for _, item := range items {
			out = append(out, x.References(item)...)
		}
		return out
	}
	if text, ok := x.jsonString(expr); ok {
		start := expr.Range().Start
		start.Byte, start.Column = start.Byte+1, start.Column+1
		if template, diags := hclsyntax.ParseTemplate([]byte(text), expr.Range().Filename, start); !diags.HasErrors() {
			return nativeFacts(template).refs
		}
	}
	for _, t := range expr.Variables() {
		out = append(out, Reference{Traversal: t})
	}
	return out
}

func nativeFacts(n hclsyntax.Node) *Facts {
	if plain, ok := classified(n); ok {
		return plain
	}
	return walkedFacts(n)
}

func walkedFacts(n hclsyntax.Node) *Facts {
	w := refWalker{}
	_ = hclsyntax.Walk(n, &w) // it reports nothing
	slices.Sort(w.facts.Impure)
	out := w.facts // a copy without the rest of the walker
	if len(w.found) > 0 {
		out.refs = make([]Reference, len(w.found))
	}
	for i, r := range w.found {
		out.refs[i] = *r
	}
	return &out
}

// refWalker finds the references of an expression with the steps around them, and its
// other facts.
type refWalker struct {
	facts  Facts
	found  []*Reference
	scopes []map[string]struct{} // the variables of for expressions
	at     map[hclsyntax.Node]*Reference
	types  []hcl.Range // arguments of functions that are types
}

// inType reports whether a name is part of a type, and refers to nothing.
func (w *refWalker) inType(name hcl.Range) bool {
	return slices.ContainsFunc(w.types, func(r hcl.Range) bool { return r.Overlaps(name) })
}

// Enter implements hclsyntax.Walker.
func (w *refWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		w.facts.Loops, w.facts.Repeats = true, true
	case *hclsyntax.FunctionCallExpr:
		w.facts.Repeats = true
		if n.Name == funcs.Convert && len(n.Args) == 2 {
			w.types = append(w.types, n.Args[1].Range())
		}
		if slices.Contains(funcs.ImpureNames(), n.Name) && !slices.Contains(w.facts.Impure, n.Name) {
			w.facts.Impure = append(w.facts.Impure, n.Name)
		}
	case hclsyntax.ChildScope:
		w.scopes = append(w.scopes, n.LocalNames)
	case *hclsyntax.RelativeTraversalExpr:
		if ix, ok := n.Source.(*hclsyntax.IndexExpr); ok {
			if r := w.keyed(ix); r != nil {
				r.Rest = n.Traversal
			}
		}
	case *hclsyntax.SplatExpr:
		w.facts.Repeats = true
		w.splat(n)
	case *hclsyntax.IndexExpr:
		if w.keyed(n) == nil {
			w.open(n.Collection)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if !w.isLocal(n.Traversal.RootName()) && !w.inType(n.Range()) {
			r := w.of(n)
			r.Traversal = n.Traversal
			w.found = append(w.found, r)
		}
	}
	return nil
}

// Exit implements hclsyntax.Walker.
func (w *refWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if _, ok := n.(hclsyntax.ChildScope); ok {
		w.scopes = w.scopes[:len(w.scopes)-1]
	}
	return nil
}

func (w *refWalker) of(n hclsyntax.Node) *Reference {
	if w.at[n] == nil {
		if w.at == nil {
			w.at = map[hclsyntax.Node]*Reference{}
		}
		w.at[n] = &Reference{}
	}
	return w.at[n]
}

func (w *refWalker) isLocal(name string) bool {
	for _, s := range w.scopes {
		if _, ok := s[name]; ok {
			return true
		}
	}
	return false
}

// keyed returns the reference of an index expression that selects an instance, nil if it does not.
func (w *refWalker) keyed(ix *hclsyntax.IndexExpr) *Reference {
	s, ok := ix.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !MayRepeat(s.Traversal) {
		return nil
	}
	r := w.of(s)
	for _, t := range hclsyntax.Variables(ix.Key) {
		if w.isLocal(t.RootName()) {
			r.Splat, r.Open = true, true
			return r
		}
	}
	r.Key = ix.Key
	return r
}

// splat records what is read of each instance: resource.web[*].state.ip.
func (w *refWalker) splat(n *hclsyntax.SplatExpr) {
	s, ok := n.Source.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !MayRepeat(s.Traversal) {
		return
	}
	each, ok := Unparen(n.Each).(*hclsyntax.RelativeTraversalExpr)
	if !ok || each.Source != hclsyntax.Expression(n.Item) {
		return
	}
	r := w.of(s)
	r.Splat, r.Rest = true, each.Traversal
}

// open marks the reference inside a computed index.
func (w *refWalker) open(collection hclsyntax.Expression) {
	switch c := collection.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		w.of(c).Open = true
	case *hclsyntax.RelativeTraversalExpr:
		if ix, ok := c.Source.(*hclsyntax.IndexExpr); ok {
			if r := w.keyed(ix); r != nil {
				r.Open = true
			}
		}
	}
}
