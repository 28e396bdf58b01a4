package cluster

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/child"
	"deployster/internal/runtime/runner"
)

// Program is the name of the program that talks to API servers.
const Program = "deployster-kube"

// starting is how long the program may take until it is ready. It talks to nobody before.
const starting = 30 * time.Second

// maxLine is the limit of its first line, in bytes.
const maxLine = 4 << 10

// leaving is how long the program may delete Pods after the connection was closed, and leave how long this command waits for that:
// where it is the first process of a container, the program is killed with it.
const (
	leaving = 25 * time.Second
	leave   = 10 * time.Second
)

// Options declare how to reach clusters.
type Options struct {
	Host   string                   // its name
	Find   func(name string) string // returns the path of a program that comes with this one; "" = there is none
	Timing remote.Timing
	Note   func(text string) // called with what the program notes about Pods; nil = no callback
}

// Dial starts the program for a namespace, and returns a client of it. The caller must close the
// client. The error is a *remote.UnreachableError, a *remote.RefusedError, or the context's.
func Dial(ctx context.Context, at runner.Cluster, h remote.Hello, o Options) (*remote.Client, error) {
	path := o.Find(Program)
	if path == "" {
		return nil, &remote.UnreachableError{Reason: Program + " is not installed with this deployster, and only it talks to clusters"}
	}
	block, err := json.Marshal(remote.Block{Cluster: at, Host: o.Host})
	if err != nil {
		return nil, err
	}
	p, err := child.Start([]string{path}, child.Options{Buffer: maxLine, NoTerminal: true, Leaving: leaving, Leave: leave,
		NoteOf: remote.NoteOf, Note: o.Note})
	if err != nil {
		return nil, &remote.UnreachableError{Reason: fmt.Sprintf("%s cannot be started: %s", path, err)}
	}
	stop := context.AfterFunc(ctx, p.Kill)
	err = begin(p, block)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err == nil {
		var client *remote.Client
		if client, err = remote.NewClient(ctx, p, h, o.Timing); err == nil || diag.Is[*remote.RefusedError](err) {
			return client, err
		}
	}
	p.Kill()
	p.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if ended(err) {
		err = errors.New(cmp.Or(p.LastError(), Program+" ended before it answered"))
	}
	return nil, &remote.UnreachableError{Reason: err.Error()}
}

// begin sends the block, and waits until the program is ready.
func begin(p *child.Process, block []byte) error {
	defer time.AfterFunc(starting, p.Kill).Stop()
	if _, err := p.Write(append(block, '\n')); err != nil {
		return fmt.Errorf("%w: %w", io.EOF, err)
	}
	line, err := p.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull), err == nil && strings.TrimSpace(string(line)) != remote.Ready:
		return fmt.Errorf("%s prints %q, and is another program", Program, line[:min(len(line), 80)])
	default:
		return err
	}
}

// ended reports whether an error shows that the program has ended.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || diag.Is[*remote.LostError](err)
}
