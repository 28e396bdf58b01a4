package decl

import "github.com/hashicorp/hcl/v2"

// host decodes a host block, which declares how to reach another machine.
func (l *loader) host(b *hcl.Block) {
	h, _ := l.attributes(b, hostSchema, l.b.Hosts)
	l.oneOf(h.Attrs)
}
