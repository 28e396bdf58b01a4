package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/limits"
)

// The limits on instances.
const (
	maxInstances = 100_000 // of all blocks together
	maxKeySize   = 400     // bytes of a for_each key: it becomes part of names
)

// resourceSet gives the instances of a resource block, nil if it is not
// declared. They are made when they are asked for first, because the for_each of
// one block may be made of the instances of another.
func (m *modules) resourceSet(e *evaluator, mod *module, name string) *resourceSet {
	if s, ok := mod.resources[name]; ok {
		return s
	}
	block := mod.block.resources[name]
	if block == nil {
		return nil
	}
	s := &resourceSet{}
	mod.resources[name] = s
	e.expand(&s.expansion, mod, mod.join(name), &block.block)
	s.list = make([]instance, s.n)
	for i := range s.list {
		at := occurrence{}
		if s.repetition != once {
			at = occurrence{&s.expansion, i}
		}
		s.list[i] = instance{block: block, mod: mod, at: at}
		s.list[i].Resource = Resource{Address: mod.join(name) + at.key(), Block: mod.join(name), Module: mod.address,
			Range: fromHCL(block.at), OnRemove: OnRemoveDestroy}
	}
	m.room(s.n, block.at)
	return s
}

// moduleSet gives the instances of a module block, nil if it is not declared or
// could not be read.
func (m *modules) moduleSet(e *evaluator, mod *module, name string) *moduleSet {
	if s, ok := mod.children[name]; ok {
		return s
	}
	block := mod.block.children[name]
	if block == nil {
		return nil
	}
	s := &moduleSet{}
	mod.children[name] = s
	address := mod.join("module." + name)
	e.expand(&s.expansion, mod, address, &block.call.block)
	s.list = make([]*module, s.n)
	for i := range s.list {
		at := occurrence{}
		if s.repetition != once {
			at = occurrence{&s.expansion, i}
		}
		s.list[i] = newModule(block, mod, at, address+at.key())
	}
	m.room(s.n, block.call.at)
	return s
}

func newModule(b *moduleBlock, caller *module, at occurrence, address string) *module {
	return &module{block: b, caller: caller, at: at, address: address, vars: map[string]known{}, locals: map[string]known{},
		resources: make(map[string]*resourceSet, len(b.resources)), children: map[string]*moduleSet{}, settings: map[*block]typeSettings{}}
}

// room counts instances, and says once that there are too many.
func (m *modules) room(n int, at hcl.Range) {
	if m.count += n; m.count > maxInstances && m.count-n <= maxInstances {
		m.diags = append(m.diags, limits.Exceeded(at, "instances", maxInstances))
	}
}

// expand finds out how many instances a block has.
func (e *evaluator) expand(x *expansion, mod *module, address string, b *block) {
	x.mod, x.address, x.n = mod, address, 1
	a := b.attrs["for_each"]
	if a != nil {
		x.repetition = forEach
	} else if a = b.attrs["count"]; a != nil {
		x.repetition = counted
	} else {
		return
	}
	x.expr, x.n = a.Expr, 0
	if e.m.count > maxInstances || b.wrong {
		x.wrong, x.pending = true, true
		return
	}
	if pinned, ok := e.m.pinned[address]; ok && pinned.fits(x.repetition) {
		x.learned, x.n, x.keys = true, len(pinned.Keys), pinned.Keys
		if pinned.Count != nil {
			x.n = *pinned.Count
		}
		return
	}
	v, diags := e.value(a.Expr, site{mod: mod})
	if !diags.HasErrors() {
		var d *hcl.Diagnostic
		if d = x.take(v, a.Expr); d != nil {
			diags = append(diags, d)
		}
	}
	x.wrong = diags.HasErrors()
	x.pending = x.pending || x.wrong
	e.m.diags = append(e.m.diags, diags...)
	if x.pending && !x.wrong {
		e.m.pending = append(e.m.pending, Pending{Address: address, Range: fromHCL(b.at), x: x})
	}
}

// fits reports whether instances from a plan are those of such a block.
func (i Instances) fits(r repetition) bool {
	if r == counted {
		return i.Count != nil && len(i.Keys) == 0 && *i.Count >= 0 && *i.Count <= maxInstances
	}
	return i.Count == nil && len(i.Keys) <= maxInstances && slices.IsSorted(i.Keys)
}

// take reads the value of for_each or count.
func (x *expansion) take(v cty.Value, expr hcl.Expression) *hcl.Diagnostic {
	if x.repetition == counted {
		return x.takeCount(v, expr)
	}
	const rule = "for_each takes a map, an object, or a set of strings; each key becomes an instance."
	if v.IsMarked() {
		return failure(expr.Range(), "Sensitive keys", "The keys of this for_each are sensitive, and they would be seen in the addresses of the resources. Take the keys from something else, or say nonsensitive() if they may be seen.")
	}
	typ := v.Type()
	isMap := typ.IsObjectType() || typ.IsMapType()
	switch {
	case v.IsNull():
		return failure(expr.Range(), "Invalid for_each", "This is null. %s For none at all, write {}.", rule)
	case typ == cty.DynamicPseudoType && !v.IsKnown():
		x.pending = true
		return nil
	case typ.IsTupleType() || typ.IsListType():
		return failure(expr.Range(), "Invalid for_each", "This is a list. %s A list of strings is made a set by toset(); for other lists, choose the keys: { for item in LIST : item.name => item }.", rule)
	case !isMap && !typ.IsSetType():
		return failure(expr.Range(), "Invalid for_each", "This %s. %s For a number of instances, use count.", describe(v), rule)
	case typ.IsSetType() && typ.ElementType() != cty.String && typ.ElementType() != cty.DynamicPseudoType:
		return failure(expr.Range(), "Invalid for_each", "This is a set of another type than strings. %s Write toset([for x in SET : tostring(x)]), or a map.", rule)
	case !v.IsKnown():
		x.pending = true
		return nil
	}
	x.set = typ.IsSetType()
	values := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if x.set {
			key = value
		}
		if !key.IsKnown() {
			x.pending = true
			return nil
		}
		if key.IsNull() {
			return failure(expr.Range(), "Invalid for_each", "The set has null in it, which is no key. Leave it out: compact(), or [for x in SET : x if x != null].")
		}
		if len(key.AsString()) > maxKeySize {
			return failure(expr.Range(), "Invalid for_each", "The key %s... has more than %d bytes. A key becomes part of the name of a resource: choose a shorter one.", quoteKey(strings.ToValidUTF8(key.AsString()[:40], "")), maxKeySize)
		}
		x.keys = append(x.keys, key.AsString())
		if !x.set && value.IsWhollyKnown() {
			values[key.AsString()] = value
		}
	}
	slices.Sort(x.keys)
	if x.n = len(x.keys); x.n > maxInstances {
		x.n = 0
		return limits.Exceeded(expr.Range(), "instances", maxInstances)
	}
	x.values = values
	return nil
}

func (x *expansion) takeCount(v cty.Value, expr hcl.Expression) *hcl.Diagnostic {
	if v.HasMarkDeep(sensitive{}) {
		return failure(expr.Range(), "Sensitive count", "The count is sensitive, and everybody could see it by the number of the resources. Say nonsensitive() if it may be seen.")
	}
	if v.IsNull() {
		return failure(expr.Range(), "Invalid count", "The count is null. It is a whole number; for no instance at all, write 0.")
	}
	if v.Type() == cty.Bool {
		return failure(expr.Range(), "Invalid count", "The count is a number, and this %s. Write CONDITION ? 1 : 0.", describe(v))
	}
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		hint := ""
		if v.CanIterateElements() {
			hint = " Did you mean length(...), or for_each?"
		}
		return failure(expr.Range(), "Invalid count", "The count is a whole number, and this %s.%s", describe(v), hint)
	}
	if !n.IsKnown() {
		x.pending = true
		return nil
	}
	f := n.AsBigFloat()
	i, accuracy := f.Int64()
	switch {
	case f.Sign() < 0:
		return failure(expr.Range(), "Invalid count", "The count is %s, and there cannot be fewer than no instances. Write max(0, ...) if it may fall below 0.", shortNumber(n))
	case accuracy != 0 && f.IsInt(), accuracy == 0 && i > maxInstances:
		return limits.Exceeded(expr.Range(), fmt.Sprintf("instances (%s)", shortNumber(n)), maxInstances)
	case accuracy != 0:
		return failure(expr.Range(), "Invalid count", "The count is %s, and there is no part of an instance. Use floor() or ceil().", shortNumber(n))
	}
	x.n = int(i)
	return nil
}
