package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
	"deployster/config/source"
)

// Operation is an operation block: what a watch runs on a resource again and again.
type Operation struct {
	*Block
	On Target
}

// operation decodes an operation block.
func (l *loader) operation(b *hcl.Block) {
	blocks := map[string]*Block{}
	p, _ := l.attributes(b, schema.Operation, blocks)
	if first := l.b.Operations[p.Name]; first != nil {
		l.add(twice(b.Type, p.Name, first.At, p.At))
		return
	}
	one := &Operation{Block: p}
	if a := p.Attrs["resource"]; a != nil {
		if one.On = l.target(a); one.On.module {
			l.add(source.Failure(one.On.At, "Not a resource", "An operation runs on one resource: name it, as resource.NAME."))
		}
	}
	l.b.Operations[p.Name] = one
}
