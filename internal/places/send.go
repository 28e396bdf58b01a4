package places

import (
	"context"
	"io"

	"deployster/internal/artifact/tree"
	"deployster/internal/far"
	"deployster/internal/runner"
)

// sending is something on its way to a host, or there.
type sending struct {
	done chan struct{}
	err  error
	cut  bool // who sent it was to end: the error is not of those who wait
}

// send sends what an invocation needs that the host may lack: its image, and files of
// artifacts.
func (h *host) send(ctx context.Context, c *far.Client, s runner.Spec) error {
	err := h.once(ctx, s.Digest, func() error {
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

// bring sends files of an artifact.
func bring(ctx context.Context, c *far.Client, f runner.Files) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	archive, w := io.Pipe()
	defer archive.Close()
	go func() { w.CloseWithError(tree.Pack(ctx, w, f.Dir)) }()
	return c.Bring(ctx, far.Files{Key: f.Key, Name: f.Name, Tree: f.Tree}, archive)
}

// once does something that is done once for each connection; who comes while it is done
// waits. After an error the next one tries again, and so does who waited for one whose
// time was up.
func (h *host) once(ctx context.Context, what string, do func() error) error {
	for {
		h.sentMu.Lock()
		on := h.sent[what]
		if on == nil {
			on = &sending{done: make(chan struct{})}
			h.sent[what] = on
			h.sentMu.Unlock()
			h.do(ctx, what, on, do)
			return on.err
		}
		h.sentMu.Unlock()
		select {
		case <-on.done:
			if !on.cut {
				return on.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (h *host) do(ctx context.Context, what string, on *sending, do func() error) {
	defer close(on.done)
	if on.err = do(); on.err == nil {
		return
	}
	on.cut = ctx.Err() != nil
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	if h.sent[what] == on {
		delete(h.sent, what)
	}
}

// forget has something sent again that is not there any more, unless it is on its way.
func (h *host) forget(what string) {
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	if on := h.sent[what]; on != nil {
		select {
		case <-on.done:
			delete(h.sent, what)
		default:
		}
	}
}

// nothingSent is said of a new connection.
func (h *host) nothingSent() {
	h.sentMu.Lock()
	defer h.sentMu.Unlock()
	h.sent = map[string]*sending{}
}
