package planvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/eval"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
)

// Root is the name of the plan in expressions.
const Root = "plan"

// Plan is a plan as expressions see it. It is immutable.
type Plan struct{ value cty.Value }

// Of reads the JSON of a plan.
func Of(document []byte) (Plan, error) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return Plan{}, err
	}
	if _, is := plain.(map[string]any); !is {
		return Plan{}, fmt.Errorf("a plan is an object")
	}
	v, err := values.FromPlain(plain)
	return Plan{v}, err
}

// Evaluate evaluates an expression of the root that may use the plan, and the values of more names.
func (p Plan) Evaluate(e *eval.Evaluator, expr hcl.Expression, more map[string]cty.Value) (cty.Value, hcl.Diagnostics) {
	at := e.M.Top.Scope()
	ctx := e.Context(expr, at)
	if ctx == nil {
		return cty.DynamicVal, hcl.Diagnostics{source.Failure(expr.Range(), "Cannot be evaluated", "What this refers to takes more than "+
			"is allowed in one expression.")}
	}
	if ctx.Variables == nil {
		ctx.Variables = map[string]cty.Value{}
	}
	maps.Copy(ctx.Variables, more)
	ctx.Variables[Root] = p.value
	v, diags := limits.Evaluate(expr, ctx)
	source.Hide(diags, expr, ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, source.FirstOfEach(diags)
	}
	if _, err := limits.CheckParts(v); err != nil {
		return cty.DynamicVal, append(diags, source.Failure(expr.Range(), "Unusable value", "This value cannot be used: %s.", err))
	}
	return v, diags
}

// ReadsTime reports whether an expression may read when the plan was made.
func ReadsTime(index *refs.Index, expr hcl.Expression) bool {
	for _, ref := range index.References(expr) {
		if ref.Traversal.RootName() != Root {
			continue
		}
		if name := refs.StepName(ref.Traversal, 1); name == "" || name == "created" {
			return true
		}
	}
	return false
}
