package places

import (
	"context"
	"time"

	"deployster/internal/far"
	"deployster/internal/runner"
)

// reach makes a connection when its turn comes.
func (p *Places) reach(ctx context.Context, h runner.Host) (*far.Client, error) {
	select {
	case p.dialling <- struct{}{}:
		defer func() { <-p.dialling }()
		return p.o.Dial(ctx, h)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Most changes how many connections there are at one time; 0 = no limit.
func (p *Places) Most(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.o.Most = n
}

// makeRoom closes connections over which nothing is called, as long as there are too many
// with the one that is being made.
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

// settled is how long nothing is called over a connection until that is no pause between two
// calls.
const settled = time.Second

// open counts the connections, and gives the host of the one that is needed least; nil = all
// are in use. Hosts are finished one after the other: what was used last is finished, and
// what is idle for longer waits for its turn.
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

// state reports whether there is a connection to a host, and whether nothing is called over it.
func (h *host) state() (there, idle bool) {
	if !h.mu.TryLock() {
		return true, false // it is being made, or given to who calls
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

// leave ends the connection to a host, unless somebody calls. The next call makes another.
func (h *host) leave() {
	if h.mu.TryLock() {
		if h.calls.Load() == 0 {
			_ = h.client.Close() // it says goodbye
		}
		h.mu.Unlock()
	}
}
