package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/limits"
	"deployster/internal/diag"
	"deployster/internal/strictjson"
)

// blame finds, for each unknown value in v, the references that make it
// unknown. It follows the expression as far as its shape is the value's shape:
// through objects, lists, decided conditions and references.
func (e *evaluator) blame(expr hcl.Expression, owner *resource, v cty.Value, at []string, out map[string]string) {
	v, _ = v.Unmark()
	if v.IsWhollyKnown() {
		return
	}
	expr = unparen(expr)
	if next, nextOwner, ok := e.follow(expr, owner); ok {
		e.blame(next, nextOwner, v, at, out)
		return
	}
	if address := e.whole(expr, owner); address != "" {
		e.blameResource(address, v, at, out)
		return
	}
	if v.IsKnown() && !v.IsNull() && (v.Type().IsObjectType() || v.Type().IsMapType()) {
		if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
			e.blamePairs(pairs, owner, v, at, out)
			return
		}
	}
	if v.IsKnown() && !v.IsNull() && v.Type().IsTupleType() {
		if items, diags := hcl.ExprList(expr); !diags.HasErrors() && len(items) == v.LengthInt() {
			for i, item := range items {
				e.blame(item, owner, v.Index(cty.NumberIntVal(int64(i))), append(at, strconv.Itoa(i)), out)
			}
			return
		}
	}
	refs := strings.Join(e.unknownRefs(expr, owner), ", ")
	eachUnknown(v, at, func(pointer []string) { out[strictjson.JoinPointer(pointer)] = refs })
}

// whole is the address of the resource that an expression passes on as a whole.
func (e *evaluator) whole(expr hcl.Expression, owner *resource) string {
	if t := e.m.asTraversal(expr, false); len(t) == 2 {
		return e.address(t.RootName(), stepName(t, 1), owner)
	}
	return ""
}

// blameResource is blame for the value of resource.NAME.
func (e *evaluator) blameResource(address string, v cty.Value, at []string, out map[string]string) {
	r := e.m.declared.resources[address]
	for name, part := range v.AsValueMap() {
		here := append(slices.Clone(at), name)
		if a := r.attrs["config"]; name == "config" && a != nil {
			e.blame(a.Expr, r, part, here, out)
			continue
		}
		eachUnknown(part, here, func(pointer []string) { out[strictjson.JoinPointer(pointer)] = "resource." + address + "." + name })
	}
}

func (e *evaluator) blamePairs(pairs []hcl.KeyValuePair, owner *resource, v cty.Value, at []string, out map[string]string) {
	attrs := v.AsValueMap()
	for _, pair := range pairs {
		key, diags := pair.Key.Value(e.context(pair.Key, owner))
		key, _ = key.Unmark()
		if name, err := convert.Convert(key, cty.String); err == nil && !diags.HasErrors() && name.IsKnown() && !name.IsNull() {
			if child, ok := attrs[name.AsString()]; ok {
				e.blame(pair.Value, owner, child, append(slices.Clone(at), name.AsString()), out)
			}
		}
	}
}

// follow leads from an expression that only passes a value on to the one that
// makes it: the local value, the other resource's config, the branch taken.
func (e *evaluator) follow(expr hcl.Expression, owner *resource) (hcl.Expression, *resource, bool) {
	if c, ok := expr.(*hclsyntax.ConditionalExpr); ok {
		decided, diags := c.Condition.Value(e.context(c.Condition, owner))
		decided, _ = decided.Unmark()
		if diags.HasErrors() || !decided.IsKnown() || decided.IsNull() || decided.Type() != cty.Bool {
			return nil, nil, false
		}
		if decided.True() {
			return c.TrueResult, owner, true
		}
		return c.FalseResult, owner, true
	}
	t := e.m.asTraversal(expr, false)
	if t == nil {
		return nil, nil, false
	}
	next, nextOwner, rest := e.source(t, owner)
	return next, nextOwner, next != nil && len(rest) == 0
}

// source finds the expression that a traversal leads to, as deep as expressions
// go; rest are the steps that go further than that. When it leads to something
// that no expression makes, such as a state, there is no expression, and rest
// is the whole traversal to it.
func (e *evaluator) source(t hcl.Traversal, owner *resource) (expr hcl.Expression, exprOwner *resource, rest hcl.Traversal) {
	for hops := 0; hops < maxChain; hops++ {
		name := stepName(t, 1)
		address := e.address(t.RootName(), name, owner)
		switch {
		case t.RootName() == "local" && e.m.declared.locals[name] != nil:
			expr, rest = descend(e.m.declared.locals[name].expr, t[2:])
			owner = nil
		case address != "" && stepName(t, 2) == "config" && e.m.declared.resources[address].attrs["config"] != nil:
			owner = e.m.declared.resources[address]
			expr, rest = descend(owner.attrs["config"].Expr, t[3:])
		default:
			return nil, owner, t
		}
		next := e.m.asTraversal(expr, false)
		if next == nil || len(rest) == 0 {
			break
		}
		t = append(slices.Clone(next), rest...) // local.vm.state.ip where vm = resource.www
	}
	return expr, owner, rest
}

// descend follows steps into the written objects and lists of an expression.
func descend(expr hcl.Expression, steps hcl.Traversal) (hcl.Expression, hcl.Traversal) {
	for len(steps) > 0 {
		next := child(expr, objectKey(steps[0]))
		if next == nil {
			break
		}
		expr, steps = next, steps[1:]
	}
	return expr, steps
}

// child is the written part of an object or a list expression, nil if there is
// no such part.
func child(expr hcl.Expression, key string) hcl.Expression {
	expr = unparen(expr)
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		for _, pair := range pairs {
			k, d := pair.Key.Value(nil)
			if name, err := convert.Convert(k, cty.String); !d.HasErrors() && err == nil && name.IsKnown() && !name.IsNull() && name.AsString() == key {
				return pair.Value
			}
		}
		return nil
	}
	if items, diags := hcl.ExprList(expr); !diags.HasErrors() {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(items) {
			return items[i]
		}
	}
	return nil
}

// unknownRefs are the references to states in an expression whose values are
// not known, sorted, each once.
func (e *evaluator) unknownRefs(expr hcl.Expression, owner *resource) []string {
	found := map[string]bool{}
	e.collectUnknown(expr, owner, found, map[hcl.Expression]bool{})
	return sortedKeys(found)
}

func (e *evaluator) collectUnknown(expr hcl.Expression, owner *resource, found map[string]bool, seen map[hcl.Expression]bool) {
	if seen[expr] {
		return
	}
	seen[expr] = true
	for _, ref := range references(expr) {
		next, nextOwner, rest := e.source(ref.t, owner)
		if next == nil {
			e.unknownRef(reference{rest, ref.open}, nextOwner, found)
			continue
		}
		e.collectUnknown(next, nextOwner, found, seen)
	}
}

// unknownRef adds a reference to a state if its value is not known.
func (e *evaluator) unknownRef(ref reference, owner *resource, found map[string]bool) {
	address := e.address(ref.t.RootName(), stepName(ref.t, 1), owner)
	if address == "" {
		return
	}
	whole, _ := e.resourceValue(address, []reference{ref})
	full := append(hcl.Traversal{hcl.TraverseRoot{Name: "resource"}, hcl.TraverseAttr{Name: address}}, ref.t[2:]...)
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"resource": cty.ObjectVal(map[string]cty.Value{address: whole})}}
	v, diags := full.TraverseAbs(ctx)
	if diags.HasErrors() || v.IsWhollyKnown() {
		return
	}
	if len(full) == 2 { // the resource as a whole: it is its state that is not known
		full = append(full, hcl.TraverseAttr{Name: "state"})
	}
	found[traversalString(full)] = true
}

// eachUnknown calls f with the pointer of each unknown value in v.
func eachUnknown(v cty.Value, at []string, f func([]string)) {
	v, _ = v.Unmark()
	if !v.IsKnown() {
		f(at)
		return
	}
	if v.IsNull() || !v.CanIterateElements() {
		return
	}
	i := 0
	for it := v.ElementIterator(); it.Next(); i++ {
		k, child := it.Element()
		eachUnknown(child, append(slices.Clone(at), limits.ElementKey(v.Type(), k, i)), f)
	}
}

// Locate says where the value at a JSON pointer of a resource's config is
// written: the nearest enclosing thing that is, if not exactly. It is nil when
// there is no such resource.
func (m *Manifest) Locate(addr, pointer string) *diag.Range {
	r := m.declared.resources[addr]
	if r == nil {
		return nil
	}
	place := fromHCL(r.at)
	a := r.attrs["config"]
	if a == nil {
		return &place
	}
	e := m.evaluator(nil)
	expr, owner := a.Expr, r
	steps := strictjson.Pointer(pointer)
	for hops := 0; hops < maxChain; hops++ {
		expr = unparen(expr)
		if len(steps) > 0 {
			if next := child(expr, steps[0]); next != nil {
				expr, steps = next, steps[1:]
				continue
			}
		}
		t := m.asTraversal(expr, false)
		if t == nil {
			break
		}
		next, nextOwner, rest := e.source(t, owner)
		if next == nil || len(rest) > 0 || len(steps) == 0 {
			break
		}
		expr, owner = next, nextOwner
	}
	place = fromHCL(expr.Range())
	return &place
}
