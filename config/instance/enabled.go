package instance

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/source"
	"deployster/config/values"
)

// takeEnabled sets the instances from the value of enabled.
func (x *Expansion) takeEnabled(v cty.Value, expr hcl.Expression) *hcl.Diagnostic {
	const rule = "enabled is true or false: whether the block has its one instance."
	if v.HasMarkDeep(values.Sensitive{}) {
		return source.Failure(expr.Range(), "Sensitive enabled", "The value of enabled is sensitive, and whether the instance exists "+
			"would reveal it. Use nonsensitive() if it may be shown.")
	}
	if v.IsNull() {
		return source.Failure(expr.Range(), "Invalid enabled", "This is null. %s", rule)
	}
	got, err := convert.Convert(v, cty.Bool)
	if err != nil {
		hint := ""
		if v.Type() == cty.Number {
			hint = " For a number of instances, use count."
		}
		return source.Failure(expr.Range(), "Invalid enabled", "This %s. %s%s", values.Describe(v), rule, hint)
	}
	if !got.IsKnown() {
		x.Pending = true
		return nil
	}
	if got.True() {
		x.N = 1
	}
	return nil
}
