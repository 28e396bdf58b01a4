package funcs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The parser of HCL puts its own && and || into each expression, also into those that are parsed
// while a JSON file is evaluated, where nothing can replace them. Their short circuits take null for
// false, and drop an error of the first operand when the second decides. So they are replaced once,
// before anything is parsed.
func init() {
	hclsyntax.OpLogicalAnd.ShortCircuit = decidedBy(false)
	hclsyntax.OpLogicalOr.ShortCircuit = decidedBy(true)
}

// decidedBy returns the short circuit of an operator that one operand with that value decides. The
// first operand is always evaluated, and so its error counts. The second counts unless the first
// decides. cty.NilVal leaves the rest to the operator, which refuses null.
func decidedBy(value bool) func(lhs, rhs cty.Value, lhsDiags, rhsDiags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
	decides := func(v cty.Value) bool { return v.IsKnown() && !v.IsNull() && v.True() == value }
	return func(lhs, rhs cty.Value, lhsDiags, rhsDiags hcl.Diagnostics) (cty.Value, hcl.Diagnostics) {
		switch {
		case lhsDiags.HasErrors():
		case decides(lhs):
			return cty.BoolVal(value), lhsDiags
		case !lhs.IsKnown() && !rhsDiags.HasErrors() && decides(rhs):
			return cty.BoolVal(value), append(lhsDiags, rhsDiags...)
		}
		return cty.NilVal, nil
	}
}
