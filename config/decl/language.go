package decl

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/config/schema"
)

// Syntax is what a block may have.
type Syntax = schema.Syntax

// Language returns what a manifest may have. It is made of what the loader reads by.
func Language() Syntax {
	manifest := Syntax{}
	for _, k := range kinds {
		if k.Block == "" {
			continue
		}
		s := k.schema.Syntax(k.Block)
		s.Named = k.named
		switch k.Block {
		case "locals":
			s.Open = true
		case "module":
			s.Open = true
			for _, name := range metaArguments {
				s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: name == metaArguments[0]})
			}
		}
		manifest.Blocks = append(manifest.Blocks, s)
	}
	return manifest
}

// Root is a name with which references begin.
type Root struct {
	Name  string
	Block string   // the blocks that it names; "" = none
	Names []string // what can follow, where no block declares it
}

// Roots returns the names with which references begin, in the order in which messages list them.
func Roots() []Root {
	var roots []Root
	for _, k := range kinds {
		if k.Root == "" {
			continue
		}
		r := Root{Name: k.Root, Block: k.Block}
		if k.Advice == correct { // its names are fixed
			r.Block, r.Names = "", k.declared(nil, Usage{}).List()
		}
		roots = append(roots, r)
	}
	return roots
}
