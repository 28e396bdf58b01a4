package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/diag"
)

// condition is something that must be true: a precondition, a postcondition, or
// an assertion of a check.
type condition struct {
	kind     string // as the block is called
	expr     hcl.Expression
	message  hcl.Expression
	ofItself bool // self may be used
}

var (
	conditionSchema = attributes("condition!", "error_message!")
	lifecycleBlocks = []string{"precondition", "postcondition"}
)

// conditions decodes the blocks of one kind, those that are whole.
func (l *loader) conditions(c *hcl.BodyContent, kind string) []condition {
	var out []condition
	for _, b := range c.Blocks.OfType(kind) {
		attrs := l.content(b.Body, conditionSchema.BodySchema).Attributes
		if attrs["condition"] == nil || attrs["error_message"] == nil {
			continue // said already
		}
		out = append(out, condition{kind: kind, expr: attrs["condition"].Expr, message: attrs["error_message"].Expr, ofItself: kind == "postcondition"})
	}
	return out
}

// checkCondition finds references in a condition that cannot be.
func (m *Manifest) checkCondition(c condition, b *moduleBlock, owner *resource) hcl.Diagnostics {
	p := place{what: "a " + c.kind, self: c.ofItself}
	if owner != nil {
		p.repeated = &owner.block
	}
	if c.kind == "assert" {
		p.what = "an assertion"
	}
	return append(m.checkRefs(c.expr, p, b, owner), m.checkRefs(c.message, p, b, owner)...)
}

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

func article(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
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

// Conditional reports whether a resource has preconditions, and postconditions: for
// one without there is nothing to be found out before it is held to them.
func (m *Manifest) Conditional(addr string) (before, after bool) {
	i := m.find(addr)
	return i != nil && len(i.block.before) > 0, i != nil && len(i.block.after) > 0
}

// Preconditions holds a resource's preconditions to what is known of others.
// Those that are not met are errors. Open are the references that keep others
// from being decided.
func (m *Manifest) Preconditions(addr string, s Scope) (open []string, diags diag.Diagnostics) {
	return m.judgeAll(addr, s, func(r *resource) []condition { return r.before })
}

// Postconditions holds a resource's postconditions to what became of it: its
// own state must be in the scope.
func (m *Manifest) Postconditions(addr string, s Scope) (open []string, diags diag.Diagnostics) {
	return m.judgeAll(addr, s, func(r *resource) []condition { return r.after })
}

func (m *Manifest) judgeAll(addr string, s Scope, which func(*resource) []condition) ([]string, diag.Diagnostics) {
	i := m.find(addr)
	if i == nil || len(which(i.block)) == 0 {
		return nil, nil
	}
	var open []string
	var list hcl.Diagnostics
	failed := m.guard(func() { open, list = m.evaluator(s).judgeList(which(i.block), i.site()) })
	if failed != nil {
		failed.Address = addr
		return nil, diag.Diagnostics{failed}
	}
	diags := m.convert(list)
	for _, d := range diags {
		d.Address = addr
	}
	return open, diags
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

// conditions are all of a resource.
func (r *resource) conditions() []condition { return slices.Concat(r.before, r.after) }

// selfTraversal writes self.state as resource.self.state, at the same places in
// the file.
func selfTraversal(t hcl.Traversal) hcl.Traversal {
	at := t[0].SourceRange()
	return append(hcl.Traversal{hcl.TraverseRoot{Name: "resource", SrcRange: at}, hcl.TraverseAttr{Name: "self", SrcRange: at}}, t[1:]...)
}

// selfWants are what the references to self read.
func selfWants(refs []reference) []want {
	var wants []want
	for _, ref := range refs {
		if ref.t.RootName() == "self" {
			wants = append(wants, want{ref.t[1:], ref.open, ref.t.SourceRange()})
		}
	}
	return wants
}
