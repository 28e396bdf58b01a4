package server

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl-lang/decoder"
	"github.com/hashicorp/hcl-lang/lang"
	"github.com/hashicorp/hcl-lang/reference"
	"github.com/hashicorp/hcl-lang/schema"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config"
	"deployster/lsp/internal/check"
	"deployster/lsp/internal/language"
	"deployster/lsp/internal/project"
	"deployster/protocol"
)

// place is a place in a file about which a request is.
type place struct {
	s      *Server
	v      *project.View
	file   *project.File
	dir    string
	offset int
	types  []*check.Types
}

func (s *Server) place(v *project.View, file *project.File, dir string, offset int) *place {
	return &place{s: s, v: v, file: file, dir: dir, offset: offset, types: s.checker.typesFor(v, dir)}
}

// decoder returns hcl-lang's decoder of a body that stands for the file.
func (p *place) decoder(src *hcl.File, targets reference.Targets) (*decoder.PathDecoder, error) {
	return decoder.NewDecoder(reader{&decoder.PathContext{Schema: p.schema(src), ReferenceTargets: targets,
		Files: map[string]*hcl.File{p.file.Path: src}, Functions: p.s.language.Functions}}).Path(lang.Path{Path: p.dir})
}

// reader is the one directory that a decoder reads.
type reader struct{ only *decoder.PathContext }

// Paths implements decoder.PathReader.
func (reader) Paths(context.Context) []lang.Path { return nil }

// PathContext implements decoder.PathReader.
func (r reader) PathContext(lang.Path) (*decoder.PathContext, error) { return r.only, nil }

// schema returns what can stand in the file. In the block at the place the config is that of its type, and the
// variables are those of its module.
func (p *place) schema(src *hcl.File) *schema.BodySchema {
	if !p.file.Manifest {
		if config.IsVariableFile(filepath.Base(p.file.Path)) {
			return &schema.BodySchema{Attributes: p.inputs(p.dir)}
		}
		return nil
	}
	block := outermost(src, p.offset)
	if block == nil {
		return p.s.language.Manifest
	}
	switch block.Type {
	case "module":
		if len(block.Labels) == 1 {
			for _, c := range p.v.Calls(p.dir) {
				if c.Name == block.Labels[0] && c.Dir != "" {
					return p.s.language.With(block.Type, p.inputs(c.Dir))
				}
			}
		}
	case "type":
		image := project.Attribute(block.Body, "image")
		name := ""
		if len(block.Labels) == 1 {
			name = block.Labels[0]
		}
		return p.s.language.With(block.Type, p.config("defaults", block.Type, p.kept(image, name)))
	case "resource", "exclusive", "policy", "notify":
		return p.s.language.With(block.Type, p.config("config", block.Type, p.typeOf(block)))
	}
	return p.s.language.Manifest
}

// outermost returns the block of a manifest at an offset; nil = there is none.
func outermost(src *hcl.File, offset int) *hclsyntax.Block {
	body, ok := src.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	for _, b := range body.Blocks {
		if r := b.Range(); r.Start.Byte <= offset && offset <= r.End.Byte {
			return b
		}
	}
	return nil
}

// config returns the attribute that takes the config of a type.
func (p *place) config(name, block string, ty *protocol.Type) map[string]*schema.AttributeSchema {
	if ty == nil {
		return nil
	}
	c, ok := language.Config(ty.ConfigSchema)
	if !ok {
		return nil
	}
	known := *p.s.language.Manifest.Blocks[block].Body.Attributes[name]
	known.Constraint = c
	return map[string]*schema.AttributeSchema{name: &known}
}

// inputs returns the variables of a directory as attributes.
func (p *place) inputs(dir string) map[string]*schema.AttributeSchema {
	all := map[string]*schema.AttributeSchema{}
	for _, file := range p.v.In(dir) {
		for _, d := range file.Decls {
			if d.Kind != project.Variable || d.Block == nil {
				continue
			}
			required := d.Block.Body.Attributes["default"] == nil
			all[d.Name] = &schema.AttributeSchema{IsRequired: required, IsOptional: !required, Constraint: language.Anything,
				Description: lang.Markdown(p.about(d))}
		}
	}
	return all
}

// typeOf returns the type of a resource or a similar block; nil = its image has never run here.
func (p *place) typeOf(block *hclsyntax.Block) *protocol.Type {
	attr := block.Body.Attributes["type"]
	if attr == nil {
		return nil
	}
	images, name := map[string]cty.Value{}, ""
	for _, t := range attr.Expr.Variables() {
		if len(t) < 2 || t.RootName() != project.Type {
			continue
		}
		if step, ok := t[1].(hcl.TraverseAttr); ok {
			name = step.Name
			symbol := p.v.Resolve(project.Ref{Symbol: project.Symbol{Dir: p.dir, Kind: project.Type, Name: name}})
			for _, d := range p.v.Declared(symbol) {
				if image := project.Attribute(d.Block.Body, "image"); image != "" {
					images[name] = cty.StringVal(image)
				}
			}
		}
	}
	v, diags := attr.Expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{project.Type: cty.ObjectVal(images)}})
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return nil
	}
	return p.kept(v.AsString(), name)
}

// kept returns what an image has reported when it was last run in one of the roots; nil = it never was.
func (p *place) kept(image, block string) *protocol.Type {
	for _, types := range p.types {
		if ty := types.Kept(image, block); ty != nil {
			return ty
		}
	}
	return nil
}

// names returns the names in the keys of an object, sorted.
func names(e hclsyntax.Expression) (list []string) {
	object, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil
	}
	all := map[string]bool{}
	for _, item := range object.Items {
		if v, diags := item.KeyExpr.Value(nil); !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			all[v.AsString()] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
