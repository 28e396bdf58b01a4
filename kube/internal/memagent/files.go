package memagent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
)

// Receiver is the init container of a Pod that receives files of an artifact. It implements fakeapi.Agent.
type Receiver struct {
	*Agent
	Dir  string               // where the files are then
	Tree string               // the hash that they must have
	Cut  func(*Receiver) bool // whether the connection breaks in the middle; nil = never

	mu   sync.Mutex
	here bool
}

// Talk implements fakeapi.Agent.
func (r *Receiver) Talk(stream io.ReadWriteCloser) error {
	err := remote.Serve(r.ctx, stream, &receiving{&session{Agent: r.Agent}, r, stream}, Timing)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.here {
		r.end(0)
	}
	return err
}

// receiving is one connection.
type receiving struct {
	*session
	r      *Receiver
	stream io.Closer
}

// Bring implements remote.Place.
func (c *receiving) Bring(ctx context.Context, f remote.Files, archive io.Reader) error {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.r.Cut != nil && c.r.Cut(c.r) {
		return errors.Join(io.ErrUnexpectedEOF, c.stream.Close())
	}
	at := filepath.Join(c.r.Dir, "files")
	if err := errors.Join(os.RemoveAll(at), tree.Unpack(ctx, archive, at)); err != nil {
		return err
	}
	sum, err := tree.Measure(ctx, at)
	if err == nil && (sum.Hash != c.r.Tree || f.Tree != c.r.Tree) {
		err = errors.New("they have another hash")
	}
	c.r.here = err == nil
	return err
}
