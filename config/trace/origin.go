package trace

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
)

// wholeInstance returns the resource whose whole value an expression passes on, nil for none.
func wholeInstance(e *eval.Evaluator, expr hcl.Expression, at instance.Scope) *instance.Instance {
	ref, ok := e.M.Refs.AsReference(expr)
	if !ok || refs.IsJSON(expr) && e.M.Refs.AsTraversal(expr) == nil && ref.Key == nil {
		return nil
	}
	i, steps := InstanceOf(e, ref, at)
	if len(steps) > 0 {
		return nil
	}
	return i
}

// InstanceOf returns the resource that a reference leads to, and the remaining steps;
// nil if it leads to several, or to none.
func InstanceOf(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (*instance.Instance, hcl.Traversal) {
	name := refs.StepName(ref.Traversal, 1)
	switch ref.Traversal.RootName() {
	case "dep":
		if at.Res != nil {
			return at.Res.ByAlias[name], ref.Traversal[2:]
		}
	case "resource":
		s := e.Choose("resource", name, []refs.Reference{ref}, at)
		if s.Of == nil || s.Of.Pending || s.All || s.Of.Single() && ref.Key != nil {
			return nil, nil
		}
		for _, c := range s.Wants {
			return &s.List[c.I], c.Wants[0].Steps
		}
	}
	return nil, nil
}

// moduleOf is InstanceOf for a module.
func moduleOf(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (*instance.Module, hcl.Traversal) {
	s := e.Choose("module", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if s.Of == nil || s.Of.Pending || s.All || s.Of.Single() && ref.Key != nil {
		return nil, nil
	}
	for _, c := range s.Wants {
		return s.Modules[c.I], c.Wants[0].Steps
	}
	return nil, nil
}

// Follow returns the expression that computes the value which expr only passes on:
// that of the local value, of the other resource's config, or of the chosen branch.
func Follow(e *eval.Evaluator, expr hcl.Expression, at instance.Scope) (hcl.Expression, instance.Scope, bool) {
	if c, ok := expr.(*hclsyntax.ConditionalExpr); ok {
		decided, diags := c.Condition.Value(e.Context(c.Condition, at))
		decided, _ = decided.Unmark()
		if diags.HasErrors() || !decided.IsKnown() || decided.IsNull() || decided.Type() != cty.Bool {
			return nil, at, false
		}
		if decided.True() {
			return c.TrueResult, at, true
		}
		return c.FalseResult, at, true
	}
	if e.M.Refs.AsTraversal(expr) == nil && refs.IsJSON(expr) {
		return nil, at, false
	}
	ref, ok := e.M.Refs.AsReference(expr)
	if !ok {
		return nil, at, false
	}
	next, nextAt, rest := sourceOf(e, ref, at)
	return next, nextAt, next != nil && len(rest.Traversal)+len(rest.Rest) == 0
}

// Hop returns the first expression that a reference leads to, and the remaining steps;
// nil if the reference leads to a value that no expression computes, such as a state.
func Hop(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (hcl.Expression, instance.Scope, hcl.Traversal) {
	mod, name := at.Mod, refs.StepName(ref.Traversal, 1)
	switch ref.Traversal.RootName() {
	case "local":
		if l := mod.Decl.Locals[name]; l != nil {
			return l.Expr, mod.Scope(), ref.Traversal[2:]
		}
	case "var":
		if mod.Caller != nil && mod.Decl.Variables[name] != nil {
			if a := mod.Decl.Call.Attrs[name]; a != nil {
				return a.Expr, mod.Inputs(), ref.Traversal[2:]
			}
		}
	case "each":
		if x := at.At.Of; x != nil && x.Repetition == instance.ForEach && name == "value" && !x.Set {
			step := hcl.TraverseIndex{Key: values.StringKey(x.Keys[at.At.I])}
			return x.Expr, x.Scope(), append(hcl.Traversal{step}, ref.Traversal[2:]...)
		}
	case "module":
		if inner, steps := moduleOf(e, ref, at); inner != nil && len(steps) > 0 {
			if o := inner.Decl.Outputs[refs.ObjectKey(steps[0])]; o != nil && o.Attrs["value"] != nil {
				return o.Attrs["value"].Expr, inner.Scope(), steps[1:]
			}
		}
	case "resource", "dep":
		if i, steps := InstanceOf(e, ref, at); i != nil && len(steps) > 0 && refs.ObjectKey(steps[0]) == "config" &&
			i.Decl.Attrs["config"] != nil {
			return i.Decl.Attrs["config"].Expr, i.Scope(), steps[1:]
		}
	}
	return nil, at, nil
}

// sourceOf returns the last expression that a reference leads to, following
// references from expression to expression; rest has the remaining steps. If the
// reference leads to a value that no expression computes, such as a state, the
// expression is nil, and rest is the reference to that value.
func sourceOf(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (expr hcl.Expression, exprAt instance.Scope, rest refs.Reference) {
	for hops := 0; hops < eval.MaxChain; hops++ {
		next, nextAt, steps := Hop(e, ref, at)
		if next == nil {
			return nil, at, ref
		}
		expr, steps = refs.Descend(next, steps)
		at, rest = nextAt, refs.Reference{Traversal: steps, Open: ref.Open}
		if len(steps) == 0 {
			break
		}
		further, ok := e.M.Refs.AsReference(expr)
		if !ok || refs.IsJSON(expr) && e.M.Refs.AsTraversal(expr) == nil && further.Key == nil {
			break
		}
		ref = further.Behind(steps) // local.vm.state.ip where vm = resource.www
	}
	return expr, at, rest
}
