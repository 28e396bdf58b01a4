package config

import (
	"github.com/hashicorp/hcl/v2"
)

// removed returns the removed blocks, in the order of their files.
func (m *instances) removed() []Removed {
	var out []Removed
	m.top.each(func(mod *module) {
		for _, b := range mod.block.removed {
			v := b.Removed
			v.From = mod.join(v.From)
			out = append(out, v)
		}
	})
	return out
}

// checkRemoved finds removed blocks of a module that contradict the manifest or
// each other.
func (m *instances) checkRemoved(mod *module) hcl.Diagnostics {
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
