package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/diag"
)

// Removed is a removed block: what is recorded under an address, and below it,
// is no longer wanted.
type Removed struct {
	From    string
	Destroy bool       // else it is let go, and left as it is
	Range   diag.Range // the block's header
}

// removed is a removed block as it is written.
type removed struct {
	Removed
	from target
	at   hcl.Range
}

var (
	removedSchema          = attributes("from!").with("lifecycle")
	removedLifecycleSchema = attributes("destroy")
)

// Removed returns the removed blocks, in the order of their files.
func (m *Manifest) Removed() []Removed {
	var out []Removed
	m.eachModule(func(mod *module) {
		for _, b := range mod.block.removed {
			v := b.Removed
			v.From = mod.join(v.From)
			out = append(out, v)
		}
	})
	return out
}

func (l *loader) removed(b *hcl.Block) {
	c := l.content(b.Body, removedSchema.BodySchema)
	lifecycle := l.single(c, "lifecycle", removedLifecycleSchema)
	if c.Attributes["from"] == nil {
		return // said already
	}
	v := &removed{at: b.DefRange, from: l.target(c.Attributes["from"])}
	v.Removed = Removed{From: v.from.address, Destroy: true, Range: fromHCL(b.DefRange)}
	if a := lifecycle["destroy"]; a != nil {
		value, diags := a.Expr.Value(nil)
		if diags.HasErrors() || value.Type() != cty.Bool || value.IsNull() || !value.IsKnown() {
			l.add(failure(a.Expr.Range(), "Not a constant", "The value of destroy is true or false: whether the thing is removed, or only let go."))
			return
		}
		v.Destroy = value.True()
	}
	if v.from.address != "" {
		l.b.removed = append(l.b.removed, v)
	}
}

// checkRemoved finds removed blocks of a module that contradict the manifest or
// each other.
func (m *Manifest) checkRemoved(mod *module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	from := map[string]*removed{}
	for _, v := range mod.block.removed {
		if first := from[v.From]; first != nil {
			diags = append(diags, failure(v.from.at, "Removed twice", "There is a removed block for %s already, at %s:%d. Remove one of them.", v.From, first.at.Filename, first.at.Start.Line))
			continue
		}
		from[v.From] = v
		if at, there := m.stillDeclared(mod, v.From, ""); there {
			diags = append(diags, failure(v.from.at, "Removed, and still there",
				"This says that %s is no longer wanted, but it is still declared, at %s:%d. Delete that block, or this one.", v.From, at.Filename, at.Start.Line))
		}
	}
	return diags
}
