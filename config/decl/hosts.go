package decl

import "github.com/hashicorp/hcl/v2"

// host decodes a block that says how another machine is reached.
func (l *loader) host(b *hcl.Block) {
	h, _ := l.attributes(b, hostSchema, l.b.Hosts)
	l.oneOf(h.Attrs)
}
