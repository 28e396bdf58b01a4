package refs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Object is an expression that no file has as a whole: an object whose members are
// expressions of a manifest. It implements hcl.Expression.
type Object struct {
	At      hcl.Range
	Members []Member
}

// Member is one member of an Object.
type Member struct {
	Name string
	Expr hcl.Expression
}

// Value implements hcl.Expression.
func (o *Object) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	attrs := make(map[string]cty.Value, len(o.Members))
	var diags hcl.Diagnostics
	for _, m := range o.Members {
		v, d := m.Expr.Value(ctx)
		attrs[m.Name], diags = v, append(diags, d...)
	}
	return cty.ObjectVal(attrs), diags
}

// Variables implements hcl.Expression.
func (o *Object) Variables() (all []hcl.Traversal) {
	for _, m := range o.Members {
		all = append(all, m.Expr.Variables()...)
	}
	return all
}

// Range implements hcl.Expression.
func (o *Object) Range() hcl.Range { return o.At }

// StartRange implements hcl.Expression.
func (o *Object) StartRange() hcl.Range { return o.At }

// ExprMap is asked for by hcl.ExprMap.
func (o *Object) ExprMap() []hcl.KeyValuePair {
	pairs := make([]hcl.KeyValuePair, len(o.Members))
	for i, m := range o.Members {
		pairs[i] = hcl.KeyValuePair{Key: hcl.StaticExpr(cty.StringVal(m.Name), m.Expr.Range()), Value: m.Expr}
	}
	return pairs
}

// objectFacts are the facts of all members together.
func (x *Index) objectFacts(o *Object) *Facts {
	out := &Facts{}
	for _, m := range o.Members {
		f := x.Facts(m.Expr)
		out.refs = append(out.refs, f.refs...)
		out.Impure = append(out.Impure, f.Impure...)
		out.Loops, out.Repeats = out.Loops || f.Loops, out.Repeats || f.Repeats
	}
	slices.Sort(out.Impure)
	out.Impure = slices.Compact(out.Impure)
	return out
}
