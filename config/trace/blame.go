package trace

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/words"
)

// Unknown returns, by JSON pointer, the references that make parts of the value of an
// expression unknown.
func Unknown(e *eval.Evaluator, expr hcl.Expression, at instance.Scope, v cty.Value) map[string]string {
	b := blamer{e, map[string]string{}}
	b.blame(expr, at, v, nil)
	return b.out
}

// blamer collects why values are unknown, by JSON pointer.
type blamer struct {
	e   *eval.Evaluator
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
	refs := words.List(UnknownRefs(b.e, expr, at), 3)
	values.EachUnknown(v, path, func(pointer []string) { b.out[jsondoc.JoinPointer(pointer)] = refs })
}

// blameResource is blame for the value of a resource as a whole.
func (b blamer) blameResource(i *instance.Instance, v cty.Value, path []string) {
	for name, part := range v.AsValueMap() {
		below := append(slices.Clone(path), name)
		if a := i.Decl.Attrs["config"]; name == "config" && a != nil {
			b.blame(a.Expr, i.Scope(), part, below)
			continue
		}
		values.EachUnknown(part, below, func(pointer []string) {
			b.out[jsondoc.JoinPointer(pointer)] = instance.Reference(i.Address) + "." + name
		})
	}
}

func (b blamer) blamePairs(pairs []hcl.KeyValuePair, at instance.Scope, v cty.Value, path []string) {
	attrs := v.AsValueMap()
	for _, pair := range pairs {
		key, diags := pair.Key.Value(b.e.Context(pair.Key, at))
		key, _ = key.Unmark()
		if name, err := convert.Convert(key, cty.String); err == nil && !diags.HasErrors() && name.IsKnown() && !name.IsNull() {
			if child, ok := attrs[name.AsString()]; ok {
				b.blame(pair.Value, at, child, append(slices.Clone(path), name.AsString()))
			}
		}
	}
}
