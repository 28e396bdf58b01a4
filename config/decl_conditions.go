package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// check is a check block as it is written.
type check struct {
	name    string
	at      hcl.Range
	asserts []condition
}

var checkSchema = schema{&hcl.BodySchema{}}.with("assert")

func (l *loader) check(b *hcl.Block) {
	c := l.content(b.Body, checkSchema.BodySchema)
	v := &check{name: b.Labels[0], at: b.DefRange, asserts: l.conditions(c, "assert")}
	if first := l.b.checks[v.name]; first != nil {
		l.add(twice("check", v.name, first.at, v.at))
		return
	}
	if len(c.Blocks) == 0 {
		l.add(failure(v.at, "Nothing is checked", "A check has at least one assert block: assert { condition = ..., error_message = \"...\" }."))
	}
	l.b.checks[v.name] = v
}

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

func article(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
}

// conditions are all of a resource.
func (r *resource) conditions() []condition { return slices.Concat(r.before, r.after) }

// expressions are those of a resource that may refer to other resources.
func (r *resource) expressions() []hcl.Expression {
	if a := r.attrs["config"]; a != nil {
		return []hcl.Expression{a.Expr}
	}
	return nil
}

// repeats reports whether a block has for_each or count.
func (b *block) repeats() bool { return b.attrs["for_each"] != nil || b.attrs["count"] != nil }
