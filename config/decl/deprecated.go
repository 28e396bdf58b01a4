package decl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/source"
)

// deprecated reads what the block of a variable or an output advises in place of its use.
func (l *loader) deprecated(b *Block) {
	a := b.Attrs["deprecated"]
	l.constant(a, cty.String, func(v cty.Value) {
		if b.Deprecated = strings.TrimSpace(v.AsString()); b.Deprecated == "" {
			l.add(source.Failure(a.Expr.Range(), "Empty advice", "The text names what replaces this: deprecated = \"Use NAME.\"."))
		}
	})
}

// Everywhere visits each expression in the blocks of a module, some of them twice.
func (b *Module) Everywhere(visit func(hcl.Expression)) {
	attrs := func(lists ...hcl.Attributes) {
		for _, list := range lists {
			sorted(list, func(a *hcl.Attribute) { visit(a.Expr) })
		}
	}
	b.Expressions(func(x Expression) { visit(x.Expr) })
	for _, blocks := range []map[string]*Block{b.Types, b.Plugs, b.Semaphores, b.Outputs, b.Artifacts, b.Hosts, b.Exclusive} {
		sorted(blocks, func(one *Block) {
			attrs(one.Attrs, one.Timeouts, one.Capabilities, one.Verify, one.Watch)
			if one.Kubernetes != nil {
				attrs(one.Kubernetes.Attrs)
			}
		})
	}
	sorted(b.Resources, func(r *Resource) { attrs(r.Attrs, r.Lifecycle, r.Block.Timeouts, r.Timeouts, r.Retry, r.Watch) })
	sorted(b.Calls, func(c *Call) { attrs(c.Attrs) })
	sorted(b.Variables, func(v *Variable) { attrs(slices.Concat(v.Checks)...) })
}
