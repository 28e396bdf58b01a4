package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// explain adds to HCL's messages what only we know.
func (e *evaluator) explain(diags hcl.Diagnostics, expr hcl.Expression, at site) {
	for _, d := range diags {
		if unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok {
			d.Detail, _, _ = strings.Cut(d.Detail, " Did you mean ") // HCL's is any of those that are near, and not always the same
			d.Detail += suggest(unknown.CalledFunctionName(), slices.Sorted(maps.Keys(at.mod.block.functions)))
		}
		if d.Subject == nil || e.explainSplat(d, expr, at) || d.Expression == nil || d.EvalContext == nil {
			continue
		}
		if ix, ok := d.Expression.(*hclsyntax.IndexExpr); ok && ix.BracketRange == *d.Subject {
			e.explainKey(d, ix, at)
			continue
		}
		for _, t := range d.Expression.Variables() {
			e.explainStep(d, t, at)
		}
	}
}

// explainSplat says what to write instead of [*] behind a block with for_each,
// whose instances are an object and no list.
func (e *evaluator) explainSplat(d *hcl.Diagnostic, expr hcl.Expression, at site) bool {
	node, ok := expr.(hclsyntax.Node)
	if !ok || d.Summary != "Unsupported attribute" {
		return false
	}
	found := false
	hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		splat, ok := n.(*hclsyntax.SplatExpr)
		if !ok || !splat.Each.Range().Overlaps(*d.Subject) {
			return nil
		}
		source, ok := splat.Source.(*hclsyntax.ScopeTraversalExpr)
		if !ok || !mayRepeat(source.Traversal) {
			return nil
		}
		if x := e.set(source.Traversal.RootName(), stepName(source.Traversal, 1), at.mod).of; x != nil && x.repetition == forEach {
			what := traversalString(source.Traversal)
			d.Summary = "One of several"
			d.Detail = fmt.Sprintf("%s has instances with keys, because of its for_each: it is an object, and no list. Write values(%s)[*] for a list of all, or %s[\"KEY\"] for one.", what, what, what)
			found = true
		}
		return nil
	})
	return found
}

// explainKey names the instances where a computed key found none.
func (e *evaluator) explainKey(d *hcl.Diagnostic, ix *hclsyntax.IndexExpr, at site) {
	s, ok := ix.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !mayRepeat(s.Traversal) {
		return
	}
	x := e.set(s.Traversal.RootName(), stepName(s.Traversal, 1), at.mod).of
	key, diags := ix.Key.Value(d.EvalContext)
	if key, _ = key.Unmark(); x == nil || diags.HasErrors() || !key.IsKnown() || key.IsNull() {
		return
	}
	if x.repetition == once {
		d.Summary = "No instances"
		d.Detail = fmt.Sprintf("%s has no for_each and no count, so that it has no instances to choose from: write it without the brackets.", traversalString(s.Traversal))
		return
	}
	noKey(d, traversalString(s.Traversal), x, objectKey(hcl.TraverseIndex{Key: key}))
}

// explainStep suggests an attribute or a key where a step of a traversal found
// none.
func (e *evaluator) explainStep(d *hcl.Diagnostic, t hcl.Traversal, at site) {
	for i := 1; i < len(t); i++ {
		if t[i].SourceRange() != *d.Subject {
			continue
		}
		if i == 2 && mayRepeat(t[:2]) {
			if x := e.set(t.RootName(), stepName(t, 1), at.mod).of; x != nil && x.repetition != once {
				noKey(d, traversalString(t[:2]), x, objectKey(t[2]))
				return
			}
		}
		before, diags := t[:i].TraverseAbs(d.EvalContext)
		before, _ = before.Unmark()
		if diags.HasErrors() || before.IsNull() || !before.Type().IsObjectType() {
			return
		}
		names := slices.Sorted(maps.Keys(before.Type().AttributeTypes()))
		name := stepName(t, i)
		if name == "" || before.Type().HasAttribute(name) {
			return
		}
		d.Summary = "Unknown attribute"
		d.Detail = fmt.Sprintf("%s has no attribute %q: %s.%s", traversalString(t[:i]), name, oneOf(names), suggest(name, names))
		return
	}
}

// noKey says that a block has no instance with a key.
func noKey(d *hcl.Diagnostic, what string, x *expansion, key string) {
	d.Summary = "No such instance"
	if x.repetition == counted {
		d.Detail = fmt.Sprintf("%s has no instance %s: its count is %d, %s.", what, key, x.n, countRange(x.n))
		return
	}
	hint := suggest(key, slices.Clone(x.keys))
	d.Detail = fmt.Sprintf("%s has no instance %s: with its for_each %s.%s", what, quoteKey(key), oneOf(x.names()), hint)
}

func countRange(n int) string {
	switch n {
	case 0:
		return "so that there is none"
	case 1:
		return "so that there is only 0"
	}
	return fmt.Sprintf("so that they are 0 to %d", n-1)
}
