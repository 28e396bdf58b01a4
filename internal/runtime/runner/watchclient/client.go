package watchclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// DefaultMax is the default of Options.Max.
const DefaultMax = 32

// endGrace is how long a process may take to end after its stdin is closed, before SIGTERM.
const endGrace = time.Second

// Event reports that the caller must read the state of a resource.
type Event struct {
	First  bool   // the watch has begun
	Busy   *bool  // whether a change to it is in progress; nil = not reported
	Detail string // for people, safe to show
}

// Request is one resource to watch.
type Request struct {
	Address   string
	Reference string      // its image, as the manifest names it
	Spec      runner.Spec // of typeclient.Client.WatchSpec
}

// subject is what errors name of a Request. It is kept as long as the resource is watched, and the
// Request is not.
type subject struct{ address, reference, digest string }

func (r *Request) subject() subject { return subject{r.Address, r.Reference, r.Spec.Digest} }

// Options are the constants of a Client.
type Options struct {
	Launcher runner.Launcher
	Max      int                   // limit of processes for one resource each, per type; 0 = DefaultMax
	Grace    time.Duration         // between SIGTERM and SIGKILL; 0 = runner.DefaultGrace
	Hide     func(string) string   // removes secrets from details; nil = there are none
	Log      func(typeclient.Line) // gets the lines of stderr, from many goroutines; nil = no callback
}

// Client watches resources. It is safe for concurrent use. The caller must close it.
type Client struct {
	o       Options
	running sync.WaitGroup // programs

	mu     sync.Mutex
	alone  map[string]int    // processes for one resource each, by type
	groups map[string]*group // processes for many resources, by key
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

// Watch calls report for each event, until ctx or the process that watches the resource ends,
// and returns the reason. It waits for the end of a process that watches this resource
// alone. One goroutine at a time calls report, which must not block. Many goroutines wait
// here, each with its own stack, which stays small: large values are behind pointers, and what
// is done before the wait is done apart.
func (c *Client) Watch(ctx context.Context, r *Request, report func(Event)) error {
	if r.Spec.Worker == nil || r.Spec.Settings.Workers == runner.NoWorkers {
		return c.watchAlone(ctx, r, report)
	}
	var g *group
	var err error
	if parallel.Apart(func() { g, err = c.group(&r.Spec) }); err != nil {
		return err
	}
	return g.watch(ctx, r, report)
}

// Close ends all processes, and returns when they have ended.
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
			Reference: s.Reference, Entrypoint: s.Worker.Entrypoint, Args: s.Worker.Args,
			Mounts: s.Mounts, Settings: s.Settings, KeepLog: s.KeepLog}}
		c.groups[key] = g
	}
	return g, nil
}

// take reserves a place for a process that watches a resource alone. give releases it.
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
			"%d resources of the type %s are watched by processes of their own, which is the limit: %s is polled. Build the type as a "+
				"worker, which watches any number in one process, or allow more with watchers = N in its type "+
				"block.", most, diag.Visible(r.Reference),
			diag.Visible(r.Address))
	}
	c.alone[key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.alone[key]--
	}, nil
}

// event returns e with a detail that is safe to show.
func (c *Client) event(e Event) Event {
	if e.Detail = diag.Visible(c.o.Hide(e.Detail)); len(e.Detail) > maxDetail {
		e.Detail = fmt.Sprintf("%s...", cutText(e.Detail, maxDetail))
	}
	return e
}
