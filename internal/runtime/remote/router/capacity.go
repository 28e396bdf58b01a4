package router

import (
	"context"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// reach dials a host when fewer than the limit are being dialled.
func (p *Places) reach(ctx context.Context, h runner.Host) (*remote.Client, error) {
	select {
	case p.dialling <- struct{}{}:
		defer func() { <-p.dialling }()
		return p.o.Dial(ctx, h)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Most changes the limit of open connections; 0 = no limit.
func (p *Places) Most(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Most = n
}

// makeRoom closes idle connections until the number of open ones, with the one that is
// about to be made, is within the limit.
func (p *Places) makeRoom() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.o.Most > 0 {
		open, idler := p.open()
		if open <= p.o.Most || idler == nil {
			return
		}
		idler.leave()
	}
}

// settled is how long a connection must be idle before the idle time counts as more than a
// pause between two calls.
const settled = time.Second

// open counts the connections, and returns the host whose connection is needed least; nil = all
// are in use. Deployster finishes hosts one after the other. Among connections idle for longer
// than settled, the one used last belongs to a finished host; the others wait to be processed.
func (p *Places) open() (n int, idler *host) {
	least := time.Duration(0)
	for _, h := range p.hosts {
		there, idle := h.state()
		if there {
			n++
		}
		if !there || !idle {
			continue
		}
		since := time.Since(time.Unix(0, h.idle.Load()))
		if both := since >= settled && least >= settled; idler == nil || both && since < least || !both && since > least {
			idler, least = h, since
		}
	}
	return n, idler
}

// state reports whether there is a connection to a host, and whether no call is in progress over it.
func (h *host) state() (there, idle bool) {
	if !h.mu.TryLock() {
		return true, false // connect is in progress
	}
	defer h.mu.Unlock()
	if h.client == nil {
		return false, false
	}
	select {
	case <-h.client.Lost():
		return false, false
	default:
		return true, h.calls.Load() == 0
	}
}

// leave closes the connection to a host, unless a call is in progress. The next call makes another.
func (h *host) leave() {
	if h.mu.TryLock() {
		if h.calls.Load() == 0 {
			_ = h.client.Close() // the host sees an orderly end
		}
		h.mu.Unlock()
	}
}
