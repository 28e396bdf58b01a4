package resource

import (
	"context"
	"errors"
	"sync"
	"time"

	"deployster/bridge/internal/plugin"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// stopLimit is how long a provider may take to confirm that it was signalled to stop.
const stopLimit = 10 * time.Second

// changes are the calls of one process that change something. A provider can only be stopped as
// a whole: so it is signalled to stop when all of them are cancelled, and is not used afterwards.
type changes struct {
	mu              sync.Mutex
	open, cancelled int
	ended           chan struct{} // closed when the last call has ended after a request to stop; nil = no such request
}

// stopped returns a channel that is closed when the process can be replaced; nil = it was not signalled to stop.
func (c *changes) stopped() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// begin resets c for a new process.
func (c *changes) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = nil
}

// cancel notes that a call is cancelled, and signals the provider to stop if all open ones are.
func (c *changes) cancel(p *plugin.Process) {
	c.mu.Lock()
	c.cancelled++
	stop := c.unwanted()
	c.mu.Unlock()
	if stop {
		askToStop(p)
	}
}

// unwanted reports whether the provider must be signalled to stop now: calls are open, and all
// are cancelled. From then on no new call begins. The caller holds the lock.
func (c *changes) unwanted() bool {
	if c.open == 0 || c.cancelled != c.open || c.ended != nil {
		return false
	}
	c.ended = make(chan struct{})
	return true
}

func askToStop(p *plugin.Process) {
	ctx, end := context.WithTimeout(context.Background(), stopLimit)
	defer end()
	// A provider that does not react continues, as if it had received no signal.
	_ = p.Call(ctx, "StopProvider", &tfplugin6.StopProvider_Request{}, &tfplugin6.StopProvider_Response{})
}

// errStopping reports that a provider was signalled to stop, so that it gets no new calls.
var errStopping = errors.New("its provider was stopped before this was started")

// execute has the provider change something. The call is never cancelled, since the
// provider would continue unseen: if ctx is cancelled, the provider is signalled to stop instead.
func (t *thing) execute(ctx context.Context, in *tfplugin6.ApplyResourceChange_Request,
	out *tfplugin6.ApplyResourceChange_Response) error {
	c, process := &t.changes, t.process
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return errStopping
	}
	c.open++
	c.mu.Unlock()
	heard := make(chan struct{})
	unheard := context.AfterFunc(ctx, func() {
		defer close(heard)
		c.cancel(process)
	})
	err := process.Call(context.WithoutCancel(ctx), "ApplyResourceChange", in, out)
	cancelled := !unheard()
	if cancelled {
		<-heard
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; cancelled {
		c.cancelled--
	}
	switch {
	case c.open == 0 && c.ended != nil:
		close(c.ended)
	case c.unwanted(): // this call was not cancelled, but all those still open are
		go askToStop(process)
	}
	return err
}
