package router

import (
	"context"
	"io"

	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// sending is the transfer of an image, or of files of an artifact, to a host, in progress or done.
type sending struct {
	done chan struct{}
	err  error
	cut  bool // the sender's context ended: err does not apply to those who wait
}

// send sends what an invocation needs and the host lacks: its image, and files of
// artifacts.
func (h *host) send(ctx context.Context, c *remote.Client, s runner.Spec) error {
	err := h.once(ctx, s.Digest, func() error {
		if h.Kubernetes != nil { // its nodes fetch images from registries
			shipment, err := h.o.Images.Named(ctx, s.Digest)
			if err != nil {
				return err
			}
			return c.Ship(ctx, shipment, nil)
		}
		shipment, err := h.o.Images.Shipment(ctx, s.Digest, c.Welcome().Facts.Arch)
		if err != nil {
			return err
		}
		return c.Ship(ctx, shipment, h.o.Images)
	})
	for _, m := range s.Mounts {
		if err == nil && m.Files != nil {
			err = h.once(ctx, m.Files.Key, func() error { return bring(ctx, c, *m.Files) })
		}
	}
	return err
}

// Ship sends an image to a host that lacks it, before an invocation needs it there.
func (p *Places) Ship(ctx context.Context, to runner.Host, digest string) error {
	h := p.host(to)
	_, err := again(ctx, h, func(c *remote.Client) (any, error) { return nil, h.send(ctx, c, runner.Spec{Digest: digest}) })
	return err
}

// bring sends files of an artifact to a host.
func bring(ctx context.Context, c *remote.Client, f runner.Files) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	archive, w := io.Pipe()
	defer archive.Close()
	go func() { w.CloseWithError(tree.Pack(ctx, w, f.Dir)) }()
	return c.Bring(ctx, remote.Files{Key: f.Key, Name: f.Name, Tree: f.Tree}, archive)
}

// once calls do once for each connection and each what; concurrent callers wait for the
// result. After an error the next caller tries again. A waiting caller tries again too
// if the error came from the end of the other caller's context.
func (h *host) once(ctx context.Context, what string, do func() error) error {
	for {
		h.sentMu.Lock()
		running := h.sent[what]
		if running == nil {
			running = &sending{done: make(chan struct{})}
			h.sent[what] = running
			h.sentMu.Unlock()
			h.do(ctx, what, running, do)
			return running.err
		}
		h.sentMu.Unlock()
		select {
		case <-running.done:
			if !running.cut {
				return running.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *host) do(ctx context.Context, what string, running *sending, do func() error) {
	defer close(running.done)
	if running.err = do(); running.err == nil {
		return
	}
	running.cut = ctx.Err() != nil
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	if h.sent[what] == running {
		delete(h.sent, what)
	}
}

// forget has an image or files sent again that the host no longer has, unless they are being sent.
func (h *host) forget(what string) {
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	if running := h.sent[what]; running != nil {
		select {
		case <-running.done:
			delete(h.sent, what)
		default:
		}
	}
}

// nothingSent forgets all transfers, for a new connection.
func (h *host) nothingSent() {
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	h.sent = map[string]*sending{}
}
