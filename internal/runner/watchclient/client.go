package watchclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
)

// DefaultMax is how many resources of a type are watched by processes of their own.
const DefaultMax = 32

// endGrace is what a process gets to end after its stdin has, before SIGTERM.
const endGrace = time.Second

// Event says that a resource is to be looked at.
type Event struct {
	First  bool   // it is watched from now on
	Busy   *bool  // something goes on that will change it, or does no more
	Detail string // for people, safe to show
}

// Request is one resource that is to be watched.
type Request struct {
	Address   string
	Reference string      // its image, as the manifest names it
	Spec      runner.Spec // of typeclient.Client.WatchSpec
}

// Options are what is constant for a Client.
type Options struct {
	Launcher runner.Launcher
	Max      int                   // resources with processes of their own, by type; 0 = DefaultMax
	Grace    time.Duration         // between SIGTERM and SIGKILL; 0 = runner.DefaultGrace
	Hide     func(string) string   // takes secrets out of details; nil = there are none
	Log      func(typeclient.Line) // gets what programs print on stderr, from many goroutines; nil = nobody does
}

// Client watches resources. It is safe for concurrent use, and must be closed.
type Client struct {
	o       Options
	running sync.WaitGroup // programs

	mu     sync.Mutex
	alone  map[string]int    // processes for one resource each, by type
	groups map[string]*group // processes for many
	closed bool
}

// New returns a Client.
func New(o Options) *Client {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	if o.Grace <= 0 {
		o.Grace = runner.DefaultGrace
	}
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	return &Client{o: o, alone: map[string]int{}, groups: map[string]*group{}}
}

// Watch calls tell for each event, until ctx ends or what watches the resource does.
// It returns why, and when nothing of a process of its own is left. tell is called
// by one goroutine at a time, and must not block. Many wait here, each on a stack of its
// own: what is large is behind a pointer.
func (c *Client) Watch(ctx context.Context, r *Request, tell func(Event)) error {
	if r.Spec.Worker == nil || r.Spec.Settings.Workers == runner.NoWorkers {
		return c.watchAlone(ctx, r, tell)
	}
	g, err := c.group(&r.Spec)
	if err != nil {
		return err
	}
	return g.watch(ctx, r, tell)
}

// Close ends all that is left, and returns when it has ended.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	var all []*group
	for _, g := range c.groups {
		all = append(all, g)
	}
	c.mu.Unlock()
	for _, g := range all {
		g.close()
	}
	c.running.Wait()
}

// group returns the group whose process watches a resource.
func (c *Client) group(s *runner.Spec) (*group, error) {
	key, err := s.GroupKey(s.Worker)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	g := c.groups[key]
	if g == nil {
		g = &group{c: c, spec: runner.Spec{Name: "watch worker of " + s.Worker.Digest, Kind: runner.Query, Digest: s.Worker.Digest,
			Entrypoint: s.Worker.Entrypoint, Args: s.Worker.Args, Mounts: s.Mounts, Settings: s.Settings, KeepLog: s.KeepLog}}
		c.groups[key] = g
	}
	return g, nil
}

// take takes one of the places for processes of their own.
func (c *Client) take(r *Request) (give func(), err error) {
	key := r.Reference + " " + r.Spec.Digest
	most := c.o.Max
	if n := r.Spec.Settings.Watchers; n > 0 {
		most = int(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.alone[key] >= most:
		return nil, diag.Because(ErrCrowded, "Not watched",
			"%d resources of the type %s are watched by processes of their own, and no more may be: %s is polled. Make the type a worker, which "+
				"watches any number in one process, or allow more with watchers = N in its type block.", most, diag.Visible(r.Reference),
			diag.Visible(r.Address))
	}
	c.alone[key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.alone[key]--
	}, nil
}

// event makes what a line says safe to show.
func (c *Client) event(e Event) Event {
	if e.Detail = diag.Visible(c.o.Hide(e.Detail)); len(e.Detail) > maxDetail {
		e.Detail = fmt.Sprintf("%s...", cutText(e.Detail, maxDetail))
	}
	return e
}
