package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// want is the body of kindWant: the host requests a piece of a content.
type want struct {
	Number uint32 `json:"number"` // of the piece, in its call
	Digest string `json:"digest"`
	Offset int64  `json:"offset"`
	Size   int    `json:"size"`
}

// maxPiece is the size limit of a piece, in bytes.
const maxPiece = 512 << 10

// pieces reads the contents of the client's images at the host's end. It implements
// runner.Contents.
type pieces struct {
	conn *conn
	call uint32

	mu     sync.Mutex
	latest uint32
	asked  map[uint32]chan piece
}

// piece is the client's reply to a want.
type piece struct {
	content []byte
	err     error
}

func newPieces(c *conn, call uint32) *pieces {
	return &pieces{conn: c, call: call, asked: map[uint32]chan piece{}}
}

// ReadContent implements runner.Contents.
func (p *pieces) ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error) {
	w := want{Digest: digest, Offset: offset, Size: min(n, maxPiece)}
	got := make(chan piece, 1)
	p.mu.Lock()
	p.latest++
	w.Number = p.latest
	p.asked[w.Number] = got
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, w.Number)
	}()
	if err := p.conn.send(kindWant, p.call, w); err != nil {
		return nil, err
	}
	select {
	case piece := <-got:
		if len(piece.content) > w.Size {
			return nil, fmt.Errorf("the client sends %d bytes of %d", len(piece.content), w.Size)
		}
		return piece.content, piece.err
	case <-p.conn.ended:
		return nil, p.conn.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// The body of a kindPiece is its number, one of these two bytes, and the content or the error's text.
const (
	isContent byte = 1
	isError   byte = 2
)

// put hands a piece from the client to the ReadContent that waits for it.
func (p *pieces) put(body []byte) error {
	if len(body) < 5 {
		return errors.New("the client sends a piece without a number")
	}
	p.mu.Lock()
	got := p.asked[binary.BigEndian.Uint32(body)]
	p.mu.Unlock()
	answer := piece{content: body[5:]}
	if body[4] == isError {
		answer = piece{err: errors.New(string(body[5:]))}
	}
	select {
	case got <- answer:
	default: // nobody waits for it any more
	}
	return nil
}

// give sends the piece that the host requests.
func (c *Client) give(ctx context.Context, m frame.Message, from runner.Contents) error {
	w, err := decode[want](m)
	if err != nil {
		return err
	}
	if from == nil || w.Size <= 0 || w.Size > maxPiece {
		return errors.New("the host requests a piece that was not offered")
	}
	kind := isContent
	content, err := from.ReadContent(ctx, w.Digest, w.Offset, w.Size)
	if err != nil {
		kind, content = isError, []byte(err.Error())
	}
	body := append(binary.BigEndian.AppendUint32(nil, w.Number), kind)
	return c.conn.send(kindPiece, m.Call, append(body, content...))
}
