package policies

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/limits"
	"deployster/config/planvalue"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// Finding is what one rule denies.
type Finding struct {
	Message string
	Address string // of the only resource that it denies; "" = of none, or of several
}

// Judge evaluates the rules of one of the policies against a plan. An error is a fault of the rules, which then have
// no result.
func (s Set) Judge(p Policy, plan planvalue.Plan) (list []Finding, diags diag.Diagnostics) {
	var wrong hcl.Diagnostics
	failed := limits.Guard(func() {
		e := s.modules.Evaluator(nil)
		for _, r := range p.rules {
			found, d := judge(e, r, plan)
			if wrong = append(wrong, d...); found != nil {
				list = append(list, *found)
			}
		}
	})
	if failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return list, s.modules.Convert(wrong)
}

// judge evaluates one rule; nil = it denies nothing.
func judge(e *eval.Evaluator, r decl.Rule, plan planvalue.Plan) (*Finding, hcl.Diagnostics) {
	value, diags := plan.Evaluate(e, r.Deny, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	value, _ = value.UnmarkDeep()
	denied, ok := denies(value)
	if !ok {
		return nil, append(diags, source.Failure(r.Deny.Range(), "Wrong type",
			"The deny of a rule is a list of text, such as addresses, or "+
				"true or false, and this %s.", values.Describe(value)))
	}
	if !denied {
		return nil, diags
	}
	text, d := plan.Evaluate(e, r.Message, map[string]cty.Value{"deny": value})
	if diags = append(diags, d...); d.HasErrors() {
		return nil, diags
	}
	found := &Finding{}
	if value.CanIterateElements() && value.LengthInt() == 1 {
		found.Address = value.AsValueSlice()[0].AsString()
	}
	plain, err := convert.Convert(text, cty.String)
	switch {
	case err != nil:
		return nil, append(diags, source.Failure(r.Message.Range(), "Wrong type", "The message of a rule is text, and this %s.",
			values.Describe(text)))
	case plain.HasMark(values.Sensitive{}):
		found.Message = "(The message is not shown, because it is made of a sensitive value.)"
	default:
		if plain, _ = plain.Unmark(); !plain.IsKnown() || plain.IsNull() || plain.AsString() == "" {
			return nil, append(diags, source.Failure(r.Message.Range(), "No message", "The message of a rule is a text that is not empty."))
		}
		found.Message = plain.AsString()
	}
	return found, diags
}

// denies reports whether the value of deny denies something; ok is false for a value that cannot be one.
func denies(v cty.Value) (denied, ok bool) {
	switch typ := v.Type(); {
	case !v.IsWhollyKnown() || v.IsNull():
		return false, false
	case typ == cty.Bool:
		return v.True(), true
	case typ.IsTupleType() || typ.IsListType() || typ.IsSetType():
		for _, item := range v.AsValueSlice() {
			if item.IsNull() || item.Type() != cty.String {
				return false, false
			}
		}
		return v.LengthInt() > 0, true
	}
	return false, false
}
