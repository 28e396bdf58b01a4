package results

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/config/values"
)

// verdict is the result of a condition.
type verdict int

const (
	undecided verdict = iota // a value that it needs is not known yet
	met
	broken
)

// judge evaluates a condition. A broken one has a reason: an error at its place with
// its message, or the error that it cannot be evaluated.
func judge(e *eval.Evaluator, c decl.Condition, at instance.Scope) (verdict, hcl.Diagnostics) {
	value, diags := e.Value(c.Expr, at)
	if diags.HasErrors() {
		return broken, diags
	}
	value, wrong := eval.ConvertTo(value, cty.Bool, c.Expr.Range(), "the condition of "+decl.Article(c.Kind))
	if wrong.HasErrors() {
		return broken, wrong
	}
	value, _ = value.Unmark()
	switch {
	case !value.IsKnown():
		return undecided, nil
	case value.IsNull():
		return broken, hcl.Diagnostics{source.Failure(c.Expr.Range(), "Invalid condition",
			"The condition of %s is true or false, and this is null.", decl.Article(c.Kind))}
	case value.True():
		return met, nil
	}
	text, diags := errorMessage(e, c, at)
	d := source.Failure(c.Expr.Range(), values.Capital(c.Kind)+" not met", "%s", text)
	d.Expression, d.EvalContext = c.Expr, e.Context(c.Expr, at)
	return broken, append(hcl.Diagnostics{d}, diags...)
}

// errorMessage returns the message of a condition that is not met.
func errorMessage(e *eval.Evaluator, c decl.Condition, at instance.Scope) (string, hcl.Diagnostics) {
	value, diags := e.Value(c.Message, at)
	if !diags.HasErrors() {
		value, diags = eval.ConvertTo(value, cty.String, c.Message.Range(), "the error_message of "+decl.Article(c.Kind))
	}
	switch {
	case diags.HasErrors():
		return fmt.Sprintf("Its error_message cannot be evaluated (%s:%d).", c.Message.Range().Filename,
			c.Message.Range().Start.Line), diags
	case value.HasMark(values.Sensitive{}):
		return "(Its error_message is not shown, because it is made of a sensitive value. If it may be seen, put nonsensitive() around " +
				"that.)",
			nil
	}
	value, _ = value.Unmark()
	if !value.IsKnown() || value.IsNull() {
		return "(Its error_message is made of something that is not known yet.)", nil
	}
	return value.AsString(), nil
}

// JudgeList evaluates several conditions; open holds the references whose values the
// undecided ones need.
func JudgeList(e *eval.Evaluator, list []decl.Condition, at instance.Scope) (open []string, diags hcl.Diagnostics) {
	for _, c := range list {
		v, d := judge(e, c, at)
		if diags = append(diags, d...); v != undecided {
			continue
		}
		refs := trace.UnknownRefs(e, c.Expr, at)
		if len(refs) == 0 {
			refs = []string{"a value that is not known"} // an undecided condition always has an entry in open
		}
		open = append(open, refs...)
	}
	return open, diags
}

// Mistakes returns the errors of a condition that do not depend on any state.
func Mistakes(e *eval.Evaluator, c decl.Condition, at instance.Scope) hcl.Diagnostics {
	value, diags := e.Value(c.Expr, at)
	if !diags.HasErrors() {
		_, diags = eval.ConvertTo(value, cty.Bool, c.Expr.Range(), "the condition of "+decl.Article(c.Kind))
	}
	text, d := e.Value(c.Message, at)
	if diags = append(diags, d...); !d.HasErrors() {
		_, d = eval.ConvertTo(text, cty.String, c.Message.Range(), "the error_message of "+decl.Article(c.Kind))
		diags = append(diags, d...)
	}
	return diags
}
