package server

import (
	"context"

	"github.com/creachadair/jrpc2"

	"deployster/lsp/internal/text"
	"deployster/lsp/internal/wire"
)

func (s *Server) opened(_ context.Context, in wire.Opened) (any, error) {
	if path := wire.Path(in.Document.URI); path != "" {
		s.project.Open(path, []byte(in.Document.Text))
		s.checker.changed(path)
	}
	return nil, nil
}

func (s *Server) changed(_ context.Context, in wire.Changed) (any, error) {
	path := wire.Path(in.Document.URI)
	if path == "" {
		return nil, nil
	}
	file := s.project.Opened(path)
	if file == nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s is not open", path)
	}
	src := file.Lines.Text
	for i, c := range in.Changes {
		lines := file.Lines
		if i > 0 {
			lines = text.New(src)
		}
		src = lines.Changed(c)
	}
	s.project.Open(path, src)
	s.checker.changed(path)
	return nil, nil
}

func (s *Server) closed(_ context.Context, in wire.Opened) (any, error) {
	if path := wire.Path(in.Document.URI); path != "" {
		s.project.Close(path)
		s.checker.changed(path)
	}
	return nil, nil
}

func (s *Server) saved(_ context.Context, in wire.Opened) (any, error) {
	if path := wire.Path(in.Document.URI); path != "" {
		s.checker.changed(path)
	}
	return nil, nil
}

// watched checks everything again, since files have changed.
func (s *Server) watched(context.Context, struct{}) (any, error) {
	s.project.Search()
	s.checker.all()
	return nil, nil
}
