package eval

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
)

// blamer collects why values are unknown, by JSON pointer.
type blamer struct {
	e   *Evaluator
	out map[string]string
}

// blame finds, for each unknown value in v, the references that make it unknown. It
// follows the expression as far as its structure matches the value's: through
// objects, lists, decided conditions and references.
func (b blamer) blame(expr hcl.Expression, at instance.Scope, v cty.Value, path []string) {
	v, _ = v.Unmark()
	if v.IsWhollyKnown() {
		return
	}
	expr = refs.Unparen(expr)
	if next, nextAt, ok := Follow(b.e, expr, at); ok {
		b.blame(next, nextAt, v, path)
		return
	}
	if i := wholeInstance(b.e, expr, at); i != nil && v.IsKnown() {
		b.blameResource(i, v, path)
		return
	}
	if v.IsKnown() && !v.IsNull() && (v.Type().IsObjectType() || v.Type().IsMapType()) {
		if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
			b.blamePairs(pairs, at, v, path)
			return
		}
	}
	if v.IsKnown() && !v.IsNull() && v.Type().IsTupleType() {
		if items, diags := hcl.ExprList(expr); !diags.HasErrors() && len(items) == v.LengthInt() {
			for i, item := range items {
				b.blame(item, at, v.Index(cty.NumberIntVal(int64(i))), append(path, strconv.Itoa(i)))
			}
			return
		}
	}
	refs := words.List(b.e.UnknownRefs(expr, at), 3)
	values.EachUnknown(v, path, func(pointer []string) { b.out[jsondoc.JoinPointer(pointer)] = refs })
}

// wholeInstance returns the resource whose whole value an expression passes on, nil for none.
func wholeInstance(e *Evaluator, expr hcl.Expression, at instance.Scope) *instance.Instance {
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
func InstanceOf(e *Evaluator, ref refs.Reference, at instance.Scope) (*instance.Instance, hcl.Traversal) {
	name := refs.StepName(ref.Traversal, 1)
	switch ref.Traversal.RootName() {
	case "dep":
		if at.Res != nil {
			return at.Res.ByAlias[name], ref.Traversal[2:]
		}
	case "resource":
		s := e.Choose("resource", name, []refs.Reference{ref}, at)
		if s.Of == nil || s.Of.Pending || s.All || s.Of.Repetition == instance.Once && ref.Key != nil {
			return nil, nil
		}
		for _, c := range s.Wants {
			return &s.List[c.I], c.Wants[0].Steps
		}
	}
	return nil, nil
}

// moduleOf is InstanceOf for a module.
func moduleOf(e *Evaluator, ref refs.Reference, at instance.Scope) (*instance.Module, hcl.Traversal) {
	s := e.Choose("module", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if s.Of == nil || s.Of.Pending || s.All || s.Of.Repetition == instance.Once && ref.Key != nil {
		return nil, nil
	}
	for _, c := range s.Wants {
		return s.mods[c.I], c.Wants[0].Steps
	}
	return nil, nil
}

// blameResource is blame for the value of a resource as a whole.
func (b blamer) blameResource(i *instance.Instance, v cty.Value, path []string) {
	for name, part := range v.AsValueMap() {
		here := append(slices.Clone(path), name)
		if a := i.Decl.Attrs["config"]; name == "config" && a != nil {
			b.blame(a.Expr, i.Scope(), part, here)
			continue
		}
		values.EachUnknown(part, here, func(pointer []string) {
			b.out[jsondoc.JoinPointer(pointer)] = instance.Reference(i.Address) + "." + name
		})
	}
}

func (b blamer) blamePairs(pairs []hcl.KeyValuePair, at instance.Scope, v cty.Value, path []string) {
	attrs := v.AsValueMap()
	for _, pair := range pairs {
		key, diags := pair.Key.Value(b.e.context(pair.Key, at))
		key, _ = key.Unmark()
		if name, err := convert.Convert(key, cty.String); err == nil && !diags.HasErrors() && name.IsKnown() && !name.IsNull() {
			if child, ok := attrs[name.AsString()]; ok {
				b.blame(pair.Value, at, child, append(slices.Clone(path), name.AsString()))
			}
		}
	}
}

// Follow returns the expression that computes the value which expr only passes on:
// that of the local value, of the other resource's config, or of the chosen branch.
func Follow(e *Evaluator, expr hcl.Expression, at instance.Scope) (hcl.Expression, instance.Scope, bool) {
	if c, ok := expr.(*hclsyntax.ConditionalExpr); ok {
		decided, diags := c.Condition.Value(e.context(c.Condition, at))
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
func Hop(e *Evaluator, ref refs.Reference, at instance.Scope) (hcl.Expression, instance.Scope, hcl.Traversal) {
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
func sourceOf(e *Evaluator, ref refs.Reference, at instance.Scope) (expr hcl.Expression, exprAt instance.Scope, rest refs.Reference) {
	for hops := 0; hops < MaxChain; hops++ {
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
