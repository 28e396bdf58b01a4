package remote

import (
	"context"
	"errors"
	"io"

	"deployster/internal/runtime/runner"
)

// stream reads one content from its beginning, piece by piece, until a piece is empty.
type stream struct {
	ctx    context.Context
	from   runner.Contents
	offset int64
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	piece, err := s.from.ReadContent(s.ctx, "", s.offset, len(p))
	s.offset += int64(len(piece))
	if err == nil && len(piece) == 0 && len(p) > 0 {
		err = io.EOF
	}
	return copy(p, piece), err
}

// sequence serves the pieces of a reader, which can be read only once. It implements
// runner.Contents.
type sequence struct {
	from   io.Reader
	offset int64
}

// ReadContent implements runner.Contents.
func (s *sequence) ReadContent(_ context.Context, _ string, offset int64, n int) ([]byte, error) {
	if offset != s.offset {
		return nil, errors.New("it can be read only once, from its beginning to its end")
	}
	piece := make([]byte, n)
	got, err := io.ReadFull(s.from, piece)
	s.offset += int64(got)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return piece[:got], err
}
