package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// verdict is what is known of a condition.
type verdict int

const (
	undecided verdict = iota // what it needs is not known yet
	met
	broken
)

// judge evaluates a condition. A broken one comes with why: an error at its
// place with its message, or that it cannot be evaluated at all.
func (e *evaluator) judge(c condition, at site) (verdict, hcl.Diagnostics) {
	value, diags := e.value(c.expr, at)
	if diags.HasErrors() {
		return broken, diags
	}
	value, wrong := convertTo(value, cty.Bool, c.expr.Range(), "the condition of "+article(c.kind))
	if wrong.HasErrors() {
		return broken, wrong
	}
	value, _ = value.Unmark()
	switch {
	case !value.IsKnown():
		return undecided, nil
	case value.IsNull():
		return broken, hcl.Diagnostics{failure(c.expr.Range(), "Invalid condition", "The condition of %s is true or false, and this is null.", article(c.kind))}
	case value.True():
		return met, nil
	}
	text, diags := e.errorMessage(c, at)
	d := failure(c.expr.Range(), capital(c.kind)+" not met", "%s", text)
	d.Expression, d.EvalContext = c.expr, e.context(c.expr, at)
	return broken, append(hcl.Diagnostics{d}, diags...)
}

// errorMessage is what a condition has to say when it is not met.
func (e *evaluator) errorMessage(c condition, at site) (string, hcl.Diagnostics) {
	value, diags := e.value(c.message, at)
	if !diags.HasErrors() {
		value, diags = convertTo(value, cty.String, c.message.Range(), "the error_message of "+article(c.kind))
	}
	switch {
	case diags.HasErrors():
		return fmt.Sprintf("Its error_message cannot be evaluated (%s:%d).", c.message.Range().Filename, c.message.Range().Start.Line), diags
	case value.HasMark(sensitive{}):
		return "(Its error_message is not shown, because it is made of a sensitive value. If it may be seen, put nonsensitive() around that.)", nil
	}
	value, _ = value.Unmark()
	if !value.IsKnown() || value.IsNull() {
		return "(Its error_message is made of something that is not known yet.)", nil
	}
	return value.AsString(), nil
}

// judgeList judges several conditions; open are the references that keep some
// from being decided.
func (e *evaluator) judgeList(list []condition, at site) (open []string, diags hcl.Diagnostics) {
	for _, c := range list {
		v, d := e.judge(c, at)
		if diags = append(diags, d...); v != undecided {
			continue
		}
		refs := e.unknownRefs(c.expr, at)
		if len(refs) == 0 {
			refs = []string{"a value that is not known"} // an undecided condition is never passed over
		}
		open = append(open, refs...)
	}
	return open, diags
}

// mistakes are what is wrong with a condition whatever the world is like.
func (e *evaluator) mistakes(c condition, at site) hcl.Diagnostics {
	value, diags := e.value(c.expr, at)
	if !diags.HasErrors() {
		_, diags = convertTo(value, cty.Bool, c.expr.Range(), "the condition of "+article(c.kind))
	}
	text, d := e.value(c.message, at)
	if diags = append(diags, d...); !d.HasErrors() {
		_, d = convertTo(text, cty.String, c.message.Range(), "the error_message of "+article(c.kind))
		diags = append(diags, d...)
	}
	return diags
}
