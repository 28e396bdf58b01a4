package expand

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/instance"
	"deployster/config/source"
)

// Removed returns the removed blocks, in the order of their files.
func (m *Instances) Removed() []decl.Removed {
	var out []decl.Removed
	m.Modules.Top.Each(func(mod *instance.Module) {
		for _, b := range mod.Decl.Removed {
			v := b.Removed
			v.From = mod.Join(v.From)
			out = append(out, v)
		}
	})
	return out
}

// checkRemoved returns an error for each removed block of a module that contradicts
// the manifest or another removed block.
func (m *Instances) checkRemoved(mod *instance.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	from := map[string]*decl.RemovedBlock{}
	for _, v := range mod.Decl.Removed {
		if first := from[v.From]; first != nil {
			diags = append(diags, source.Failure(v.FromTarget.At, "Removed twice",
				"There is a removed block for %s already, at %s:%d. Remove one of them.", v.From, first.At.Filename, first.At.Start.Line))
			continue
		}
		from[v.From] = v
		if at, there := m.stillDeclared(mod, v.From, ""); there {
			diags = append(diags, source.Failure(v.FromTarget.At, "Removed, and still declared",
				"This block removes %s, but it is still declared, at %s:%d. Delete that block, or this one.", v.From, at.Filename,
				at.Start.Line))
		}
	}
	return diags
}
