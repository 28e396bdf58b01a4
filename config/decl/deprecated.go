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

// deprecatedInput returns the warning about the value of a deprecated variable of the root; nil = there is none.
func (v *Variable) deprecatedInput(in source.VarInput) hcl.Diagnostics {
	if v.Deprecated == "" || in.Pinned {
		return nil
	}
	d := Deprecation(&v.Block, v.At, "The variable \""+v.Name+"\", which gets a value from "+in.Origin+",")
	if in.Src != nil && !v.sensitive {
		d.Subject = in.At.Ptr()
	}
	return hcl.Diagnostics{d}
}

// Deprecation returns the warning about a use of a deprecated block.
func Deprecation(b *Block, at hcl.Range, what string) *hcl.Diagnostic {
	d := source.Failure(at, "Deprecated", "%s is deprecated (%s:%d): %s", what, b.At.Filename, b.At.Start.Line, sentence(b.Deprecated))
	d.Severity = hcl.DiagWarning
	return d
}

func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
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
