package config

import (
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/funcs"
)

// reference is a traversal in an expression.
type reference struct {
	t hcl.Traversal
	// open: what the traversal leads to is indexed by a computed key.
	open bool
	// key is the computed key right behind resource.NAME or module.NAME, and rest
	// the steps behind it: resource.disk[each.key].state.size. A key that is made
	// of the variables of a for expression may be any.
	key  hcl.Expression
	rest hcl.Traversal
	// splat: rest is read of every instance, as in resource.NAME[*].state.
	splat bool
}

// refIndex knows what expressions refer to: the facts of each are found once.
type refIndex struct {
	text  func(filename string) ([]byte, bool) // of a file
	known sync.Map                             // hcl.Expression -> *facts
}

func newRefIndex(text func(filename string) ([]byte, bool)) *refIndex { return &refIndex{text: text} }

// facts are what is to be known of an expression, found once.
type facts struct {
	refs []reference
	// volatile are the functions that it calls whose results are others each time,
	// sorted, each once.
	volatile []string
	// loops: it may have for expressions. repeats: it may have parts that limits
	// counts the evaluations of.
	loops, repeats bool
}

// references are the traversals of an expression.
func (x *refIndex) references(expr hcl.Expression) []reference { return x.facts(expr).refs }

func (x *refIndex) facts(expr hcl.Expression) *facts {
	if constant(expr) {
		return &none
	}
	if got, ok := x.known.Load(expr); ok {
		return got.(*facts)
	}
	var out *facts
	if native, ok := expr.(hclsyntax.Node); ok {
		out = nativeFacts(native)
	} else {
		out = &facts{volatile: x.volatileText(expr), loops: true, repeats: true}
		if isJSON(expr) {
			out.refs = x.jsonReferences(expr)
		} else {
			for _, t := range expr.Variables() {
				out.refs = append(out.refs, reference{t: t})
			}
		}
	}
	x.known.Store(expr, out)
	return out
}

// jsonReferences are those in the templates of an expression in JSON syntax.
func (x *refIndex) jsonReferences(expr hcl.Expression) []reference {
	var out []reference
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			out = append(out, x.references(pair.Key)...)
			out = append(out, x.references(pair.Value)...)
		}
		return out
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		for _, item := range items {
			out = append(out, x.references(item)...)
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
		out = append(out, reference{t: t})
	}
	return out
}

func nativeFacts(n hclsyntax.Node) *facts {
	if plain, ok := plainFacts(n); ok {
		return plain
	}
	return walkedFacts(n)
}

func walkedFacts(n hclsyntax.Node) *facts {
	w := refWalker{}
	_ = hclsyntax.Walk(n, &w) // it reports nothing
	slices.Sort(w.facts.volatile)
	out := w.facts // without what else the walker holds
	if len(w.found) > 0 {
		out.refs = make([]reference, len(w.found))
	}
	for i, r := range w.found {
		out.refs[i] = *r
	}
	return &out
}

// refWalker finds the references of an expression with what stands around them,
// and the rest of its facts.
type refWalker struct {
	facts  facts
	found  []*reference
	scopes []map[string]struct{} // the variables of for expressions
	at     map[hclsyntax.Node]*reference
}

// Enter implements hclsyntax.Walker.
func (w *refWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		w.facts.loops, w.facts.repeats = true, true
	case *hclsyntax.FunctionCallExpr:
		w.facts.repeats = true
		if slices.Contains(funcs.Volatile(), n.Name) && !slices.Contains(w.facts.volatile, n.Name) {
			w.facts.volatile = append(w.facts.volatile, n.Name)
		}
	case hclsyntax.ChildScope:
		w.scopes = append(w.scopes, n.LocalNames)
	case *hclsyntax.RelativeTraversalExpr:
		if ix, ok := n.Source.(*hclsyntax.IndexExpr); ok {
			if r := w.keyed(ix); r != nil {
				r.rest = n.Traversal
			}
		}
	case *hclsyntax.SplatExpr:
		w.facts.repeats = true
		w.splat(n)
	case *hclsyntax.IndexExpr:
		if w.keyed(n) == nil {
			w.open(n.Collection)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if !w.isLocal(n.Traversal.RootName()) {
			r := w.of(n)
			r.t = n.Traversal
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

func (w *refWalker) of(n hclsyntax.Node) *reference {
	if w.at[n] == nil {
		if w.at == nil {
			w.at = map[hclsyntax.Node]*reference{}
		}
		w.at[n] = &reference{}
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

// keyed is the reference that an index expression is, if it picks an instance.
func (w *refWalker) keyed(ix *hclsyntax.IndexExpr) *reference {
	s, ok := ix.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !mayRepeat(s.Traversal) {
		return nil
	}
	r := w.of(s)
	for _, t := range hclsyntax.Variables(ix.Key) {
		if w.isLocal(t.RootName()) {
			r.splat, r.open = true, true
			return r
		}
	}
	r.key = ix.Key
	return r
}

// splat notes what is read of each instance: resource.web[*].state.ip.
func (w *refWalker) splat(n *hclsyntax.SplatExpr) {
	s, ok := n.Source.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !mayRepeat(s.Traversal) {
		return
	}
	each, ok := unparen(n.Each).(*hclsyntax.RelativeTraversalExpr)
	if !ok || each.Source != hclsyntax.Expression(n.Item) {
		return
	}
	r := w.of(s)
	r.splat, r.rest = true, each.Traversal
}

// open marks the reference below a computed index.
func (w *refWalker) open(collection hclsyntax.Expression) {
	switch c := collection.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		w.of(c).open = true
	case *hclsyntax.RelativeTraversalExpr:
		if ix, ok := c.Source.(*hclsyntax.IndexExpr); ok {
			if r := w.keyed(ix); r != nil {
				r.open = true
			}
		}
	}
}
