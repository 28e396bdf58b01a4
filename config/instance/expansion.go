package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/limits"
	"deployster/config/source"
	"deployster/config/values"
)

// The limits on instances.
const (
	MaxInstances = 100_000 // for all blocks together
	maxKeySize   = 400     // bytes of a for_each key: it becomes part of names
)

// Fits reports whether instances from a plan are possible for the block.
func (x *Expansion) Fits(i source.Instances) bool {
	if x.Repetition == Optional {
		return i.Count != nil && len(i.Keys) == 0 && (*i.Count == 0 || *i.Count == 1)
	}
	if x.Repetition == Counted {
		return i.Count != nil && len(i.Keys) == 0 && *i.Count >= 0 && *i.Count <= MaxInstances
	}
	return i.Count == nil && len(i.Keys) <= MaxInstances && slices.IsSorted(i.Keys)
}

// Take sets the instances from the value of for_each or count.
func (x *Expansion) Take(v cty.Value, expr hcl.Expression) *hcl.Diagnostic {
	switch x.Repetition {
	case Counted:
		return x.takeCount(v, expr)
	case Optional:
		return x.takeEnabled(v, expr)
	}
	const rule = "for_each takes a map, an object, or a set of strings; each key becomes an instance."
	if v.IsMarked() {
		return source.Failure(expr.Range(), "Sensitive keys", "The keys of this for_each are sensitive, and they would be seen in the "+
			"addresses of the resources. Take the keys from something else, or use nonsensitive() if they may be shown.")
	}
	typ := v.Type()
	isMap := typ.IsObjectType() || typ.IsMapType()
	switch {
	case v.IsNull():
		return source.Failure(expr.Range(), "Invalid for_each", "This is null. %s For none at all, write {}.", rule)
	case typ == cty.DynamicPseudoType && !v.IsKnown():
		x.Pending = true
		return nil
	case typ.IsTupleType() || typ.IsListType():
		return source.Failure(expr.Range(), "Invalid for_each", "This is a list. %s A list of strings is made a set by toset(); for other "+
			"lists, choose the keys: { for item in LIST : item.name => item }.", rule)
	case !isMap && !typ.IsSetType():
		return source.Failure(expr.Range(), "Invalid for_each", "This %s. %s For a number of instances, use count.", values.Describe(v),
			rule)
	case typ.IsSetType() && typ.ElementType() != cty.String && typ.ElementType() != cty.DynamicPseudoType:
		return source.Failure(expr.Range(), "Invalid for_each", "This is a set of another type than strings. %s Write toset([for x in SET "+
			": tostring(x)]), or a map.", rule)
	case !v.IsKnown():
		x.Pending = true
		return nil
	}
	x.Set = typ.IsSetType()
	items := map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if x.Set {
			key = value
		}
		if !key.IsKnown() {
			x.Pending = true
			return nil
		}
		if key.IsNull() {
			return source.Failure(expr.Range(), "Invalid for_each", "The set contains null, which is not a valid key. Remove it: "+
				"compact(), or [for x in SET : x if x != null].")
		}
		if len(key.AsString()) > maxKeySize {
			return source.Failure(expr.Range(), "Invalid for_each", "The key %s... has more than %d bytes. A key becomes part of the name "+
				"of a resource: choose a shorter one.", values.QuoteKey(strings.ToValidUTF8(key.AsString()[:40], "")), maxKeySize)
		}
		x.Keys = append(x.Keys, key.AsString())
		if !x.Set && value.IsWhollyKnown() {
			items[key.AsString()] = value
		}
	}
	slices.Sort(x.Keys)
	if x.N = len(x.Keys); x.N > MaxInstances {
		x.N = 0
		return limits.Exceeded(expr.Range(), "instances", MaxInstances)
	}
	x.Values = items
	return nil
}

func (x *Expansion) takeCount(v cty.Value, expr hcl.Expression) *hcl.Diagnostic {
	if v.HasMarkDeep(values.Sensitive{}) {
		return source.Failure(expr.Range(), "Sensitive count", "The count is sensitive, and the number of resources would reveal it. "+
			"Use nonsensitive() if it may be shown.")
	}
	if v.IsNull() {
		return source.Failure(expr.Range(), "Invalid count", "The count is null. It is a whole number; for no instance at all, write 0.")
	}
	if v.Type() == cty.Bool {
		return source.Failure(expr.Range(), "Invalid count", "The count is a number, and this %s. Write CONDITION ? 1 : 0.",
			values.Describe(v))
	}
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		hint := ""
		if v.CanIterateElements() {
			hint = " Did you mean length(...), or for_each?"
		}
		return source.Failure(expr.Range(), "Invalid count", "The count is a whole number, and this %s.%s", values.Describe(v), hint)
	}
	if !n.IsKnown() {
		x.Pending = true
		return nil
	}
	f := n.AsBigFloat()
	i, accuracy := f.Int64()
	switch {
	case f.Sign() < 0:
		return source.Failure(expr.Range(), "Invalid count", "The count is %s, and there cannot be fewer than no instances. Write max(0, "+
			"...) if it may fall below 0.", values.ShortNumber(n))
	case accuracy != 0 && f.IsInt(), accuracy == 0 && i > MaxInstances:
		return limits.Exceeded(expr.Range(), fmt.Sprintf("instances (%s)", values.ShortNumber(n)), MaxInstances)
	case accuracy != 0:
		return source.Failure(expr.Range(), "Invalid count", "The count is %s, and there is no part of an instance. Use floor() or ceil().",
			values.ShortNumber(n))
	}
	x.N = int(i)
	return nil
}
