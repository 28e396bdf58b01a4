package refs

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Object is an expression that no file contains as a whole: an object whose members
// are expressions of a manifest. It implements hcl.Expression.
type Object struct {
	At      hcl.Range
	Members []Member
	// Own, if any, is an object too; its members replace those with the same names.
	Own hcl.Expression
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
	if o.Own == nil {
		return cty.ObjectVal(attrs), diags
	}
	own, d := o.Own.Value(ctx)
	diags = append(diags, d...)
	plain, marks := own.Unmark()
	if !plain.IsKnown() || plain.IsNull() || !plain.Type().IsObjectType() && !plain.Type().IsMapType() {
		return own, diags // nothing can be added to it
	}
	maps.Copy(attrs, plain.AsValueMap())
	return cty.ObjectVal(attrs).WithMarks(marks), diags
}

// parts returns the expressions in the object.
func (o *Object) parts() []hcl.Expression {
	var all []hcl.Expression
	for _, m := range o.Members {
		all = append(all, m.Expr)
	}
	if o.Own != nil {
		all = append(all, o.Own)
	}
	return all
}

// Variables implements hcl.Expression.
func (o *Object) Variables() (all []hcl.Traversal) {
	for _, part := range o.parts() {
		all = append(all, part.Variables()...)
	}
	return all
}

// Range implements hcl.Expression.
func (o *Object) Range() hcl.Range { return o.At }

// StartRange implements hcl.Expression.
func (o *Object) StartRange() hcl.Range { return o.At }

// ExprMap is called by hcl.ExprMap; nil means that the names are unknown.
func (o *Object) ExprMap() []hcl.KeyValuePair {
	if o.Own != nil {
		return nil
	}
	pairs := make([]hcl.KeyValuePair, len(o.Members))
	for i, m := range o.Members {
		pairs[i] = hcl.KeyValuePair{Key: hcl.StaticExpr(cty.StringVal(m.Name), m.Expr.Range()), Value: m.Expr}
	}
	return pairs
}

// objectFacts returns the facts of all members together.
func (x *Index) objectFacts(o *Object) *Facts {
	out := &Facts{}
	for _, part := range o.parts() {
		f := x.Facts(part)
		out.refs = append(out.refs, f.refs...)
		out.Impure = append(out.Impure, f.Impure...)
		out.Loops, out.Repeats = out.Loops || f.Loops, out.Repeats || f.Repeats
	}
	slices.Sort(out.Impure)
	out.Impure = slices.Compact(out.Impure)
	return out
}
