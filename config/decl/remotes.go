package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
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
	attrs, at := l.single(c, "exports", schema.Exports), blocks[0].DefRange
	if l.b.Parent != nil {
		l.add(source.Failure(at, "Exports in a module", "Only outputs of the root manifest are published. Move this block there."))
		return
	}
	if first := l.t.Exports; first != nil {
		l.add(source.Failure(at, "Declared twice", "There is already an exports block, at %s:%d. Put both together.", first.At.Filename,
			first.At.Start.Line))
		return
	}
	l.t.Exports = &Exports{Recipients: l.constants(attrs["recipients"], encryption.CheckRecipient), At: at}
}
