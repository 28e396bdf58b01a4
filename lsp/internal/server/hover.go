package server

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"deployster/lsp/internal/language"
	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// maxShown is how much of a declaration is shown, in bytes.
const maxShown = 600

// hover describes what is at a place.
func (s *Server) hover(ctx context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, dir, err := s.file(v, in.Document.URI)
	if err != nil || file.Body() == nil {
		return nil, err
	}
	p := s.place(v, file, dir, file.Lines.Offset(in.Position))
	if symbol, at, ok := v.At(file, p.offset); ok {
		if list := v.Declared(symbol); len(list) > 0 && list[0].At != at {
			r := file.Lines.Range(at)
			return wire.Hover{Contents: wire.Markdown(p.about(list[0])), Range: &r}, nil
		}
	}
	d, err := p.decoder(file.HCL, nil)
	if err != nil {
		return nil, nil
	}
	found, err := d.HoverAtPos(ctx, file.Path, file.Lines.Pos(p.offset))
	if err != nil || found == nil {
		return nil, nil // nothing is known about it
	}
	r := file.Lines.Range(found.Range)
	return wire.Hover{Contents: wire.Markdown(found.Content.Value), Range: &r}, nil
}

// about returns what is known of a declaration: its description, and how it is written.
func (p *place) about(d project.Decl) string {
	if d.Block == nil {
		return language.Describe(d.Address(), p.shown(d))
	}
	text := project.Attribute(d.Block.Body, "description")
	if instead := project.Attribute(d.Block.Body, "deprecated"); instead != "" {
		text = strings.TrimSpace(text + "\n\nDeprecated: " + instead)
	}
	return language.Describe(d.Address(), strings.TrimSpace(text+"\n\n"+p.shown(d)))
}

// shown returns the text of a declaration, and the file that it is in if it is another one.
func (p *place) shown(d project.Decl) string {
	file := p.v.File(d.Whole.Filename)
	if file == nil || d.Whole.End.Byte > len(file.Lines.Text) {
		return ""
	}
	src := file.Lines.Text[d.Whole.Start.Byte:d.Whole.End.Byte]
	if len(src) > maxShown {
		src = src[:bytes.LastIndexByte(src[:maxShown], '\n')+1]
		src = append(bytes.Clone(src), "  ...\n}"...)
	}
	if bytes.Contains(src, []byte("```")) {
		return ""
	}
	return fmt.Sprintf("```hcl\n%s\n```", src)
}

// signature returns which arguments the function at a place takes.
func (s *Server) signature(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, dir, err := s.file(v, in.Document.URI)
	if err != nil || file.Body() == nil {
		return nil, err
	}
	p := s.place(v, file, dir, file.Lines.Offset(in.Position))
	d, err := p.decoder(file.HCL, nil)
	if err != nil {
		return nil, nil
	}
	found, err := d.SignatureAtPos(file.Path, file.Lines.Pos(p.offset))
	if err != nil || found == nil {
		return nil, nil // no function is there
	}
	text := wire.SignatureText{Label: found.Name, Documentation: wire.Markdown(found.Description.Value), Parameters: []wire.Parameter{}}
	for _, parameter := range found.Parameters {
		text.Parameters = append(text.Parameters, wire.Parameter{Label: parameter.Name,
			Documentation: wire.Markdown(parameter.Description.Value)})
	}
	return wire.Signature{Signatures: []wire.SignatureText{text}, Parameter: int(found.ActiveParameter)}, nil
}
