package schema

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Schema is what a block may have, and the hints for what it may not have.
type Schema struct {
	*hcl.BodySchema
	inner []Schema          // the schemas of its blocks
	hints map[string]string // hints for names that users know from Terraform, by name
	// otherwise returns the hint for any other name, "" for none; nil = no hints.
	otherwise func(s Schema, name string, argument bool) string
}

// Root returns the schema of the top level of a manifest, which has these blocks.
func Root(blocks []hcl.BlockHeaderSchema) Schema {
	return Schema{BodySchema: &hcl.BodySchema{Blocks: blocks}, hints: rootHints, otherwise: rootHint}
}

// attributes returns a schema with these attributes; a name that ends in ! is required.
func attributes(names ...string) Schema {
	s := Schema{BodySchema: &hcl.BodySchema{}}
	for _, n := range names {
		name, required := strings.CutSuffix(n, "!")
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: required})
	}
	return s
}

// with adds a nested block.
func (s Schema) with(block string, inner Schema) Schema {
	s.Blocks, s.inner = append(s.Blocks, hcl.BlockHeaderSchema{Type: block}), append(s.inner, inner)
	return s
}

// withNamed adds a nested block that has a name.
func (s Schema) withNamed(block string, inner Schema) Schema {
	s = s.with(block, inner)
	s.Blocks[len(s.Blocks)-1].LabelNames = []string{"name"}
	return s
}

func (s Schema) hinting(hints map[string]string, otherwise func(Schema, string, bool) string) Schema {
	s.hints, s.otherwise = hints, otherwise
	return s
}

// Names returns the names of its attributes and blocks.
func (s Schema) Names() []string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, b.Type)
	}
	return names
}

// whatCanStand returns a sentence that lists its attributes and blocks.
func (s Schema) whatCanStand() string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, "the block "+b.Type)
	}
	return "What can stand here: " + strings.Join(names, ", ") + "."
}

// optional returns the schema with an attribute that is not required.
func (s Schema) optional(name string) Schema {
	body := *s.BodySchema
	body.Attributes = slices.Clone(body.Attributes)
	for i := range body.Attributes {
		if body.Attributes[i].Name == name {
			body.Attributes[i].Required = false
		}
	}
	s.BodySchema = &body
	return s
}
