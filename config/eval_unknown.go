package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/internal/base/jsondoc"
)

// blame finds, for each unknown value in v, the references that make it
// unknown. It follows the expression as far as its shape is the value's shape:
// through objects, lists, decided conditions and references.
func (e *evaluator) blame(expr hcl.Expression, at site, v cty.Value, path []string, out map[string]string) {
	v, _ = v.Unmark()
	if v.IsWhollyKnown() {
		return
	}
	expr = unparen(expr)
	if next, nextAt, ok := e.follow(expr, at); ok {
		e.blame(next, nextAt, v, path, out)
		return
	}
	if i := e.whole(expr, at); i != nil && v.IsKnown() {
		e.blameResource(i, v, path, out)
		return
	}
	if v.IsKnown() && !v.IsNull() && (v.Type().IsObjectType() || v.Type().IsMapType()) {
		if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
			e.blamePairs(pairs, at, v, path, out)
			return
		}
	}
	if v.IsKnown() && !v.IsNull() && v.Type().IsTupleType() {
		if items, diags := hcl.ExprList(expr); !diags.HasErrors() && len(items) == v.LengthInt() {
			for i, item := range items {
				e.blame(item, at, v.Index(cty.NumberIntVal(int64(i))), append(path, strconv.Itoa(i)), out)
			}
			return
		}
	}
	refs := strings.Join(e.unknownRefs(expr, at), ", ")
	eachUnknown(v, path, func(pointer []string) { out[jsondoc.JoinPointer(pointer)] = refs })
}

// whole is the resource that an expression passes on as a whole.
func (e *evaluator) whole(expr hcl.Expression, at site) *instance {
	ref, ok := e.m.refs.asReference(expr)
	if !ok || isJSON(expr) && e.m.refs.asTraversal(expr) == nil && ref.key == nil {
		return nil
	}
	i, steps := e.instanceOf(ref, at)
	if len(steps) > 0 {
		return nil
	}
	return i
}

// instanceOf is the resource that a reference leads to, and the steps behind it;
// nil if it leads to several, or to none.
func (e *evaluator) instanceOf(ref reference, at site) (*instance, hcl.Traversal) {
	name := stepName(ref.t, 1)
	switch ref.t.RootName() {
	case "dep":
		if at.res != nil {
			return at.res.aliases[name].to, ref.t[2:]
		}
	case "resource":
		s := e.choose("resource", name, []reference{ref}, at)
		if s.of == nil || s.of.pending || s.all || s.of.repetition == once && ref.key != nil {
			return nil, nil
		}
		for _, c := range s.wants {
			return &s.list[c.i], c.wants[0].steps
		}
	}
	return nil, nil
}

// moduleOf is the same for a module.
func (e *evaluator) moduleOf(ref reference, at site) (*module, hcl.Traversal) {
	s := e.choose("module", stepName(ref.t, 1), []reference{ref}, at)
	if s.of == nil || s.of.pending || s.all || s.of.repetition == once && ref.key != nil {
		return nil, nil
	}
	for _, c := range s.wants {
		return s.mods[c.i], c.wants[0].steps
	}
	return nil, nil
}

// blameResource is blame for the value of a resource as a whole.
func (e *evaluator) blameResource(i *instance, v cty.Value, path []string, out map[string]string) {
	for name, part := range v.AsValueMap() {
		here := append(slices.Clone(path), name)
		if a := i.block.attrs["config"]; name == "config" && a != nil {
			e.blame(a.Expr, i.site(), part, here, out)
			continue
		}
		eachUnknown(part, here, func(pointer []string) {
			out[jsondoc.JoinPointer(pointer)] = Reference(i.Address) + "." + name
		})
	}
}

func (e *evaluator) blamePairs(pairs []hcl.KeyValuePair, at site, v cty.Value, path []string, out map[string]string) {
	attrs := v.AsValueMap()
	for _, pair := range pairs {
		key, diags := pair.Key.Value(e.context(pair.Key, at))
		key, _ = key.Unmark()
		if name, err := convert.Convert(key, cty.String); err == nil && !diags.HasErrors() && name.IsKnown() && !name.IsNull() {
			if child, ok := attrs[name.AsString()]; ok {
				e.blame(pair.Value, at, child, append(slices.Clone(path), name.AsString()), out)
			}
		}
	}
}

// follow leads from an expression that only passes a value on to the one that
// makes it: the local value, the other resource's config, the branch taken.
func (e *evaluator) follow(expr hcl.Expression, at site) (hcl.Expression, site, bool) {
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
	if e.m.refs.asTraversal(expr) == nil && isJSON(expr) {
		return nil, at, false
	}
	ref, ok := e.m.refs.asReference(expr)
	if !ok {
		return nil, at, false
	}
	next, nextAt, rest := e.source(ref, at)
	return next, nextAt, next != nil && len(rest.t)+len(rest.rest) == 0
}

// hop finds the expression that a reference leads to first, and the steps that
// go further; none if no expression makes what it leads to, such as a state.
func (e *evaluator) hop(ref reference, at site) (hcl.Expression, site, hcl.Traversal) {
	mod, name := at.mod, stepName(ref.t, 1)
	switch ref.t.RootName() {
	case "local":
		if l := mod.block.locals[name]; l != nil {
			return l.expr, mod.site(), ref.t[2:]
		}
	case "var":
		if mod.caller != nil && mod.block.variables[name] != nil {
			if a := mod.block.call.attrs[name]; a != nil {
				return a.Expr, mod.inputs(), ref.t[2:]
			}
		}
	case "each":
		if x := at.at.of; x != nil && x.repetition == forEach && name == "value" && !x.set {
			step := hcl.TraverseIndex{Key: stringKey(x.keys[at.at.i])}
			return x.expr, x.site(), append(hcl.Traversal{step}, ref.t[2:]...)
		}
	case "module":
		if inner, steps := e.moduleOf(ref, at); inner != nil && len(steps) > 0 {
			if o := inner.block.outputs[objectKey(steps[0])]; o != nil && o.attrs["value"] != nil {
				return o.attrs["value"].Expr, inner.site(), steps[1:]
			}
		}
	case "resource", "dep":
		if i, steps := e.instanceOf(ref, at); i != nil && len(steps) > 0 && objectKey(steps[0]) == "config" && i.block.attrs["config"] != nil {
			return i.block.attrs["config"].Expr, i.site(), steps[1:]
		}
	}
	return nil, at, nil
}

// source finds the expression that a reference leads to, as deep as expressions
// go; rest are the steps that go further than that. When it leads to something
// that no expression makes, such as a state, there is no expression, and rest
// is the reference to it.
func (e *evaluator) source(ref reference, at site) (expr hcl.Expression, exprAt site, rest reference) {
	for hops := 0; hops < maxChain; hops++ {
		next, nextAt, steps := e.hop(ref, at)
		if next == nil {
			return nil, at, ref
		}
		expr, steps = descend(next, steps)
		at, rest = nextAt, reference{t: steps, open: ref.open}
		if len(steps) == 0 {
			break
		}
		further, ok := e.m.refs.asReference(expr)
		if !ok || isJSON(expr) && e.m.refs.asTraversal(expr) == nil && further.key == nil {
			break
		}
		ref = further.behind(steps) // local.vm.state.ip where vm = resource.www
	}
	return expr, at, rest
}
