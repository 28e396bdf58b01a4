package resource

import (
	"context"
	"errors"
	"sync"
	"time"

	"deployster/bridge/internal/plugin"
	"deployster/bridge/internal/tfplugin/tfplugin6"
)

// stopLimit is how long a provider may take to say that it has heard that it is to stop.
const stopLimit = 10 * time.Second

// changes are the calls of one process that change something. A provider is asked to stop
// as a whole: so it is asked when all of them were cancelled, and serves nobody afterwards.
type changes struct {
	mu              sync.Mutex
	open, cancelled int
	ended           chan struct{} // closed when the last one has ended after the provider was asked to stop; nil = it was not
}

// stopped gives what is closed when the process can be given up; nil = it was not asked to stop.
func (c *changes) stopped() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// begin is for a new process.
func (c *changes) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = nil
}

// cancel notes that one is not wanted any more, and asks the provider to stop when none is.
func (c *changes) cancel(p *plugin.Process) {
	c.mu.Lock()
	c.cancelled++
	stop := c.unwanted()
	c.mu.Unlock()
	if stop {
		askToStop(p)
	}
}

// unwanted reports whether the provider is to be asked to stop now: something is open, and
// nobody wants any of it. From then on nothing more is begun. The lock is held.
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
	// One that does not hear it goes on with what it does, as if it had not been asked.
	_ = p.Call(ctx, "StopProvider", &tfplugin6.StopProvider_Request{}, &tfplugin6.StopProvider_Response{})
}

// errStopping says that a provider was asked to stop, so that it was given nothing more to do.
var errStopping = errors.New("its provider was asked to stop, and was not asked to do this any more")

// execute has the provider change something. The call is never cancelled, as what it does
// would go on unseen: who does not want it any more has the provider asked to stop.
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
	case c.unwanted(): // this one was wanted, and those that still run are not
		go askToStop(process)
	}
	return err
}
