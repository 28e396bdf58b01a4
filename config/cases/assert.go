package cases

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/planvalue"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// Failure is an assertion that does not hold.
type Failure struct {
	Line    int
	Message string
}

// Judge evaluates the assertions of a case against a plan of a manifest. An error is one of an assertion itself.
func Judge(m *eval.Modules, c Case, plan planvalue.Plan) (list []Failure, diags hcl.Diagnostics) {
	e := m.Evaluator(nil)
	for _, a := range c.asserts {
		found, d := a.judge(m, e, plan)
		if diags = append(diags, d...); found != nil {
			list = append(list, *found)
		}
	}
	return list, diags
}

func (a assert) judge(m *eval.Modules, e *eval.Evaluator, plan planvalue.Plan) (*Failure, hcl.Diagnostics) {
	for _, expr := range []hcl.Expression{a.condition, a.message} {
		if d := m.Checker.CheckRefs(expr, decl.Usage{What: "an assertion about a plan", Static: true, Plan: true},
			m.Tree.Root); d.HasErrors() {
			return nil, d
		}
	}
	holds, diags := plan.Evaluate(e, a.condition, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	holds, _ = holds.UnmarkDeep()
	if holds.IsNull() || !holds.IsKnown() || holds.Type() != cty.Bool {
		return nil, append(diags, source.Failure(a.condition.Range(), "Wrong type", "A condition is true or false, and this %s.",
			values.Describe(holds)))
	}
	if holds.True() {
		return nil, diags
	}
	text, d := plan.Evaluate(e, a.message, nil)
	if diags = append(diags, d...); d.HasErrors() {
		return nil, diags
	}
	text, _ = text.UnmarkDeep()
	plain, err := convert.Convert(text, cty.String)
	if err != nil || plain.IsNull() || !plain.IsKnown() || plain.AsString() == "" {
		return nil, append(diags, source.Failure(a.message.Range(), "No message",
			"The error_message of an assertion is a text that is not empty."))
	}
	return &Failure{Line: a.condition.Range().Start.Line, Message: plain.AsString()}, diags
}

// Diagnostics converts errors in a file of tests.
func (f *File) Diagnostics(list hcl.Diagnostics) diag.Diagnostics {
	return source.NewText(f.Name, f.text).Convert(list, nil)
}
