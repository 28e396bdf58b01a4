package decl

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/source"
)

var operationSchema = attributes("resource!", "run!", "input", "schedule!")

// Operation is an operation block: what a watch runs on a resource again and again.
type Operation struct {
	*Block
	On Target
}

// operation decodes an operation block.
func (l *loader) operation(b *hcl.Block) {
	blocks := map[string]*Block{}
	p, _ := l.attributes(b, operationSchema, blocks)
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

// rootOperations adds an error for each operation block in a module, which cannot have them.
func (l *loader) rootOperations() {
	for _, name := range slices.Sorted(maps.Keys(l.b.Operations)) {
		l.add(source.Failure(l.b.Operations[name].At, "An operation in a module", "Schedules belong to the whole state, so that only the "+
			"root manifest may declare operations. Move it there; it can name a resource of this module."))
	}
}
