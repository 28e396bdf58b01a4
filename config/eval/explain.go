package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/words"
)

// explain adds deployster's knowledge to the messages of HCL.
func explain(e *Evaluator, diags hcl.Diagnostics, expr hcl.Expression, at instance.Scope) {
	for _, d := range diags {
		if unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok {
			d.Detail, _, _ = strings.Cut(d.Detail, " Did you mean ") // HCL suggests any of the near names, not always the same
			d.Detail += words.DidYouMean(unknown.CalledFunctionName(), slices.Sorted(maps.Keys(at.Mod.Decl.Functions)))
		}
		if d.Subject == nil || explainSplat(e, d, expr, at) || d.Expression == nil || d.EvalContext == nil {
			continue
		}
		if ix, ok := d.Expression.(*hclsyntax.IndexExpr); ok && ix.BracketRange == *d.Subject {
			explainKey(e, d, ix, at)
			continue
		}
		for _, t := range d.Expression.Variables() {
			explainStep(e, d, t, at)
		}
	}
}

// explainSplat shows the user what to write instead of [*] after a block with
// for_each, whose instances are an object and not a list. It reports whether it did.
func explainSplat(e *Evaluator, d *hcl.Diagnostic, expr hcl.Expression, at instance.Scope) bool {
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
		if !ok || !refs.MayRepeat(source.Traversal) {
			return nil
		}
		if x := e.set(source.Traversal.RootName(), refs.StepName(source.Traversal, 1), at.Mod).Of; x != nil &&
			x.Repetition == instance.ForEach {
			what := refs.TraversalString(source.Traversal)
			d.Summary = "One of several"
			d.Detail = fmt.Sprintf("%s has instances with keys, because of its for_each: it is an object, not a list. Write "+
				"values(%s)[*] for a list of all, or %s[\"KEY\"] for one.", what, what, what)
			found = true
		}
		return nil
	})
	return found
}

// explainKey lists the instances of a block if a computed key matches none.
func explainKey(e *Evaluator, d *hcl.Diagnostic, ix *hclsyntax.IndexExpr, at instance.Scope) {
	s, ok := ix.Collection.(*hclsyntax.ScopeTraversalExpr)
	if !ok || !refs.MayRepeat(s.Traversal) {
		return
	}
	x := e.set(s.Traversal.RootName(), refs.StepName(s.Traversal, 1), at.Mod).Of
	key, diags := ix.Key.Value(d.EvalContext)
	if key, _ = key.Unmark(); x == nil || diags.HasErrors() || !key.IsKnown() || key.IsNull() {
		return
	}
	if x.Single() {
		d.Summary = "No instances"
		d.Detail = fmt.Sprintf("%s has no for_each and no count, so that it has no instances to choose from: write it without the "+
			"brackets.",
			refs.TraversalString(s.Traversal))
		return
	}
	NoKey(d, refs.TraversalString(s.Traversal), x, refs.ObjectKey(hcl.TraverseIndex{Key: key}))
}

// explainStep suggests an attribute or a key if a step of a traversal does not exist.
func explainStep(e *Evaluator, d *hcl.Diagnostic, t hcl.Traversal, at instance.Scope) {
	for i := 1; i < len(t); i++ {
		if t[i].SourceRange() != *d.Subject {
			continue
		}
		if i == 3 && e.M.Remotes.explain(d, t) {
			return
		}
		if i == 2 && explainDisabled(e, d, t, at) {
			return
		}
		if i == 2 && refs.MayRepeat(t[:2]) {
			if x := e.set(t.RootName(), refs.StepName(t, 1), at.Mod).Of; x != nil && !x.Single() {
				NoKey(d, refs.TraversalString(t[:2]), x, refs.ObjectKey(t[2]))
				return
			}
		}
		before, diags := t[:i].TraverseAbs(d.EvalContext)
		before, _ = before.Unmark()
		if diags.HasErrors() || before.IsNull() || !before.Type().IsObjectType() {
			return
		}
		names := slices.Sorted(maps.Keys(before.Type().AttributeTypes()))
		names = slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(declared(e, t[:i]))))))
		name := refs.StepName(t, i)
		if name == "" || before.Type().HasAttribute(name) {
			return
		}
		d.Summary = "Unknown attribute"
		d.Detail = fmt.Sprintf("%s has no attribute %q: %s.%s", refs.TraversalString(t[:i]), name, words.ThereAre(names),
			words.DidYouMean(name, names))
		return
	}
}

// NoKey rewrites a diagnostic: the block has no instance with the key.
func NoKey(d *hcl.Diagnostic, what string, x *instance.Expansion, key string) {
	d.Summary = "No such instance"
	if x.Repetition == instance.Counted {
		d.Detail = fmt.Sprintf("%s has no instance %s: its count is %d, %s.", what, key, x.N, countRange(x.N))
		return
	}
	hint := words.DidYouMean(key, slices.Clone(x.Keys))
	d.Detail = fmt.Sprintf("%s has no instance %s: with its for_each %s.%s", what, values.QuoteKey(key), words.ThereAre(x.Names()), hint)
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
