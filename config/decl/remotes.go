package decl

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/source"
	"deployster/internal/base/encryption"
)

// Exports are the settings of the exports block: how outputs are published for other projects.
type Exports struct {
	Recipients []string // whose keys decrypt them
	At         hcl.Range
}

// exports decodes the exports block of a deployster block. Its values are constants, like those of encryption.
func (l *loader) exports(c *hcl.BodyContent) {
	blocks := c.Blocks.OfType("exports")
	if len(blocks) == 0 {
		return
	}
	attrs, at := l.single(c, "exports", exportsSchema), blocks[0].DefRange
	if l.b.Parent != nil {
		l.add(source.Failure(at, "Exports in a module", "Only outputs of the root manifest are published. Move this block there."))
		return
	}
	l.t.Exports = &Exports{Recipients: l.constants(attrs["recipients"], encryption.CheckRecipient), At: at}
}

// noRemotes adds an error for each remote_state block in a module, which cannot have them.
func (l *loader) noRemotes() {
	for _, name := range slices.Sorted(maps.Keys(l.b.RemoteStates)) {
		l.add(source.Failure(l.b.RemoteStates[name].At, "A remote_state in a module", "Outputs of other states are read by the root "+
			"manifest only. Declare it there, and pass what the module needs as a variable."))
	}
}
