package decl

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/schema"
	"deployster/config/source"
)

// Check is a decoded check block.
type Check struct {
	Name    string
	at      hcl.Range
	Asserts []Condition
	Gate    bool // a failure lets no further wave of hosts begin
	// Lookups are the resources that only its assertions read, by name.
	Lookups map[string]*Resource
}

// LookupPrefix begins the names of the resources that checks read, as resources of their module: check.CHECK.NAME, which no
// resource block can have.
const LookupPrefix = "check."

// lookup decodes a resource in a check.
func (l *loader) lookup(c *Check, b *hcl.Block) {
	name := b.Labels[0]
	if !source.IsName(name) {
		l.add(source.Failure(b.LabelRanges[0], "Invalid name", "%s", source.WhyNoName(name)))
		return
	}
	r := &Resource{Block: Block{Name: LookupPrefix + c.Name + "." + name, At: b.DefRange}, Check: c}
	r.Attrs = l.content(b.Body, schema.Lookup).Attributes
	if first := c.Lookups[name]; first != nil {
		l.add(twice("resource", name, first.At, r.At))
		return
	}
	c.Lookups[name], l.b.Resources[r.Name] = r, r
}

// shadows returns an error for each resource in a check that has the name of a resource of the module.
func (b *Module) shadows() (diags hcl.Diagnostics) {
	sorted(b.Checks, func(c *Check) {
		for _, name := range slices.Sorted(maps.Keys(c.Lookups)) {
			if first := b.Resources[name]; first != nil {
				diags = append(diags, twice("resource", name, first.At, c.Lookups[name].At))
			}
		}
	})
	return diags
}

// Named returns the resource that resource.NAME refers to; nil = none is declared.
func (b *Module) Named(name string, u Usage) *Resource {
	if u.Check != nil && u.Check.Lookups[name] != nil {
		return u.Check.Lookups[name]
	}
	return b.Resources[name]
}

func (l *loader) check(b *hcl.Block) {
	c := l.content(b.Body, schema.Check)
	v := &Check{Name: b.Labels[0], at: b.DefRange, Asserts: l.conditions(c, "assert"), Lookups: map[string]*Resource{}}
	if first := l.b.Checks[v.Name]; first != nil {
		l.add(twice("check", v.Name, first.at, v.at))
		return
	}
	l.constant(c.Attributes["gate"], cty.Bool, func(x cty.Value) { v.Gate = x.True() })
	if len(c.Blocks.OfType("assert")) == 0 {
		l.add(source.Failure(v.at, "Nothing is checked",
			"A check has at least one assert block: assert { condition = ..., error_message = \"...\" }."))
	}
	l.b.Checks[v.Name] = v
	for _, one := range c.Blocks.OfType("resource") {
		l.lookup(v, one)
	}
}

// Condition is something that must be true: a precondition, a postcondition, or
// an assertion of a check.
type Condition struct {
	Kind     string // the type of the block
	Expr     hcl.Expression
	Message  hcl.Expression
	OfItself bool // self may be used
}

// conditions decodes the blocks of one type, except incomplete ones.
func (l *loader) conditions(c *hcl.BodyContent, kind string) []Condition {
	var out []Condition
	for _, b := range c.Blocks.OfType(kind) {
		attrs := l.content(b.Body, schema.Condition).Attributes
		if attrs["condition"] == nil || attrs["error_message"] == nil {
			continue // already reported
		}
		out = append(out, Condition{Kind: kind, Expr: attrs["condition"].Expr, Message: attrs["error_message"].Expr,
			OfItself: kind == "postcondition"})
	}
	return out
}

// Article puts a or an before the type of a block.
func Article(kind string) string {
	if strings.ContainsAny(kind[:1], "aeio") {
		return "an " + kind
	}
	return "a " + kind
}

// Conditions returns the preconditions and postconditions of a resource.
func (r *Resource) Conditions() []Condition { return slices.Concat(r.Before, r.After) }

// Expressions returns the expressions of a resource that may refer to other resources.
func (r *Resource) Expressions() []hcl.Expression {
	if a := r.Attrs["config"]; a != nil {
		return []hcl.Expression{a.Expr}
	}
	return nil
}

// Repetitions are the arguments that decide how many instances a block has. Only one of them may be given.
var Repetitions = []string{"for_each", "count", "enabled"}

// Repeats reports whether a block has for_each or count.
func (b *Block) Repeats() bool { return b.Attrs["for_each"] != nil || b.Attrs["count"] != nil }
