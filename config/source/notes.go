package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/refs"
	"deployster/config/values"
	"deployster/internal/base/diag"
)

// valueNotes describes the values of the variables of a failed expression. It names
// sensitive ones without their values.
func valueNotes(h *hcl.Diagnostic) []diag.Value {
	if h.Expression == nil || h.EvalContext == nil {
		return nil
	}
	var notes []diag.Value
	for _, t := range h.Expression.Variables() {
		if refs.MayRepeat(t) {
			continue // its object holds only the instances that the expression needs
		}
		v, diags := t.TraverseAbs(h.EvalContext)
		for diags.HasErrors() && len(t) > 2 { // the nearest value that exists helps the user
			t = t[:len(t)-1]
			v, diags = t.TraverseAbs(h.EvalContext)
		}
		if refs.MayRepeat(t) {
			continue // the instance does not exist, and its object lacks the others
		}
		if diags.HasErrors() || h.Extra == (hiddenDetail{}) && !isRoot(h.EvalContext, t.RootName()) {
			continue // variables of a for expression have no marks
		}
		note := diag.Value{Name: refs.TraversalString(t), Text: values.Describe(v)}
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	slices.SortFunc(notes, func(a, b diag.Value) int { return strings.Compare(a.Name, b.Name) })
	return notes
}

// isRoot reports whether a name is one of the roots, and not a variable of a for
// expression.
func isRoot(ctx *hcl.EvalContext, name string) bool {
	for ; ctx != nil; ctx = ctx.Parent() {
		if _, ok := ctx.Variables[name]; ok {
			return ctx.Parent() == nil
		}
	}
	return false
}

// secretsOf returns the sensitive values that a failed expression refers to.
func secretsOf(h *hcl.Diagnostic) []string {
	if h.Expression == nil || h.EvalContext == nil {
		return nil
	}
	var secrets []string
	for _, t := range h.Expression.Variables() {
		if v, diags := t.TraverseAbs(h.EvalContext); !diags.HasErrors() {
			secrets = append(secrets, values.SecretsIn(v)...)
		}
	}
	return secrets
}

// hiddenDetail marks a diagnostic whose details could reveal a sensitive value.
type hiddenDetail struct{}

// Hide removes the details from the errors of those parts of an expression that use
// sensitive values: a function's message about its argument may be a secret, or
// contain one.
func Hide(diags hcl.Diagnostics, expr hcl.Expression, ctx *hcl.EvalContext) {
	for _, d := range diags {
		if d.Subject == nil {
			continue
		}
		for _, t := range partAt(expr, *d.Subject).Variables() {
			v, traversal := t.TraverseAbs(ctx)
			if traversal.HasErrors() { // the reference itself is invalid: the value at its beginning decides
				v, traversal = t[:min(len(t), 2)].TraverseAbs(ctx)
			}
			if !traversal.HasErrors() && v.HasMarkDeep(values.Sensitive{}) {
				d.Detail = fmt.Sprintf("This fails, and the reason is not shown, because it could reveal the sensitive value of %s. If "+
					"it may be shown, put nonsensitive() around it to see the reason.", refs.TraversalString(t))
				d.Extra = hiddenDetail{}
			}
		}
	}
}

// partAt returns the smallest subexpression of an object or list that contains a range.
func partAt(expr hcl.Expression, r hcl.Range) hcl.Expression {
	for {
		next := hcl.Expression(nil)
		for _, part := range parts(expr) {
			if pr := part.Range(); pr.Filename == r.Filename && pr.Start.Byte <= r.Start.Byte && r.End.Byte <= pr.End.Byte {
				next = part
			}
		}
		if next == nil {
			return expr
		}
		expr = next
	}
}

// parts returns the elements of an object or list expression.
func parts(expr hcl.Expression) []hcl.Expression {
	expr = refs.Unparen(expr)
	if pairs, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		var out []hcl.Expression
		for _, p := range pairs {
			out = append(out, p.Key, p.Value)
		}
		return out
	}
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		return nil
	}
	return items
}
