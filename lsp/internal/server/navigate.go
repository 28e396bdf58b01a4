package server

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"deployster/config"
	"deployster/lsp/internal/project"
	"deployster/lsp/internal/wire"
)

// location returns a range of HCL, whose file is a path, as editors take it.
func location(v *project.View, r hcl.Range) (wire.Location, bool) {
	file := v.File(r.Filename)
	if file == nil {
		return wire.Location{}, false
	}
	return wire.Location{URI: wire.URI(r.Filename), Range: file.Lines.Range(r)}, true
}

// definition returns where the symbol at a place is declared. That of the source of a module is its first file.
func (s *Server) definition(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	list, offset := []wire.Location{}, file.Lines.Offset(in.Position)
	if dir := v.SourceAt(file, offset); dir != "" {
		for _, f := range v.In(dir) {
			if f.Manifest {
				return append(list, wire.Location{URI: wire.URI(f.Path)}), nil
			}
		}
		return list, nil
	}
	symbol, _, ok := v.At(file, offset)
	if !ok {
		return list, nil
	}
	for _, d := range v.Declared(symbol) {
		if l, ok := location(v, d.At); ok {
			list = append(list, l)
		}
	}
	return list, nil
}

// references returns where the symbol at a place is referred to.
func (s *Server) references(ctx context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	list := []wire.Location{}
	symbol, _, ok := v.At(file, file.Lines.Offset(in.Position))
	if !ok {
		return list, nil
	}
	if in.Context.Declaration {
		for _, d := range v.Declared(symbol) {
			if l, ok := location(v, d.At); ok {
				list = append(list, l)
			}
		}
	}
	for _, r := range v.References(symbol) {
		if l, ok := location(v, r.At); ok && ctx.Err() == nil {
			list = append(list, l)
		}
	}
	return list, nil
}

// highlights returns where the symbol at a place stands in the same file.
func (s *Server) highlights(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	type highlight struct {
		Range wire.Range `json:"range"`
		Kind  int        `json:"kind"` // 2 = it is read, 3 = it is declared
	}
	list := []highlight{}
	symbol, _, ok := v.At(file, file.Lines.Offset(in.Position))
	if !ok {
		return list, nil
	}
	for _, d := range file.Decls {
		if d.Symbol == symbol {
			list = append(list, highlight{file.Lines.Range(d.At), 3})
		}
	}
	for _, r := range file.Refs {
		if r.Kind == symbol.Kind && r.Name == symbol.Name && v.Resolve(r) == symbol {
			list = append(list, highlight{file.Lines.Range(r.At), 2})
		}
	}
	return list, nil
}

// format returns the edit that gives a file its canonical form. A file with mistakes has none.
func (s *Server) format(_ context.Context, in wire.At) (any, error) {
	v := s.project.View()
	file, _, err := s.file(v, in.Document.URI)
	if err != nil {
		return nil, err
	}
	list, src := []wire.TextEdit{}, file.Lines.Text
	if filepath.Ext(file.Path) != ".hcl" {
		return list, nil
	}
	out, diags := config.Format(filepath.Base(file.Path), src)
	if diags.HasErrors() || bytes.Equal(src, out) {
		return list, nil
	}
	start, end := 0, 0 // what is the same, in whole lines
	for start < len(src) && start < len(out) && src[start] == out[start] {
		start++
	}
	start = bytes.LastIndexByte(src[:start], '\n') + 1
	for end < len(src)-start && end < len(out)-start && src[len(src)-1-end] == out[len(out)-1-end] {
		end++
	}
	if i := bytes.IndexByte(src[len(src)-end:], '\n'); i >= 0 {
		end -= i + 1
	} else {
		end = 0
	}
	return append(list, wire.TextEdit{Range: file.Lines.Bytes(start, len(src)-end), NewText: string(out[start : len(out)-end])}), nil
}
