package schema

import "github.com/hashicorp/hcl/v2"

// Syntax is what a block may have, for programs that help people to write manifests.
type Syntax struct {
	Block      string // its type; "" = a manifest
	Named      bool   // it has a label, its name
	Attributes []hcl.AttributeSchema
	Blocks     []Syntax
	Open       bool // it takes attributes of any other names too
}

// Syntax returns what a block of this type may have.
func (s Schema) Syntax(block string) Syntax {
	out := Syntax{Block: block}
	if s.BodySchema == nil {
		return out
	}
	out.Attributes = append(out.Attributes, s.Attributes...)
	for i, inner := range s.inner {
		out.Blocks = append(out.Blocks, inner.Syntax(s.Blocks[i].Type))
	}
	return out
}
