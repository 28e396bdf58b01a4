package pod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"deployster/internal/runtime/pod/programs"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
	"deployster/protocol"
)

// agent is what all clients of a Pod share.
type agent struct {
	boot     string // identifies this container: the outcomes of its actions live as long as it does
	log      func(format string, args ...any)
	programs *programs.Runner
	pool     *worker.Pool
	actions  *actions

	mu      sync.Mutex
	images  map[string]runner.Shipment // what this container is, by digest
	lineage string                     // of the state that this Pod acts for; "" = no client has acted yet
	fence   remote.Fence
	clients map[*client]bool
	since   time.Time // when the last client has left; zero = there is one
}

// newAgent returns the agent of a container, whose traces are in a termination message.
func newAgent(o Options, m *message) (*agent, error) {
	a := &agent{boot: newID(), images: map[string]runner.Shipment{}, clients: map[*client]bool{}, since: time.Now()}
	var mu sync.Mutex
	a.log = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(o.Log, format+"\n", args...) // for people who read it
	}
	a.actions = &actions{message: m, log: a.log, slots: make(chan struct{}, mostActions), open: map[string]*action{}}
	var err error
	a.programs, err = programs.New(programs.Options{Events: o.Events, Begun: a.begun,
		Image: func(digest string) ([]string, []string, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			s, known := a.images[digest]
			return s.Entrypoint, s.Cmd, known
		}})
	if err != nil {
		return nil, err
	}
	a.pool = worker.New(worker.Options{Runner: a.programs, Launcher: a.programs, Max: max(o.Workers, 1)})
	return a, nil
}

// begun notes that an action begins now.
func (a *agent) begun(id string) error {
	err := a.actions.message.begun(id)
	if err == nil {
		a.log("action %s begun", id)
	}
	return err
}

// client is one client of the agent. It implements remote.Place.
type client struct {
	*agent
	hello   remote.Hello
	drop    context.CancelCauseFunc // ends its connection
	dropped bool                    // another client that may act was admitted since
}

// Enter implements remote.Place. A client that may act ends the connections of the others that may:
// they are of an older holder of the state, or lost ones of its own.
func (c *client) Enter(_ context.Context, h remote.Hello) (remote.Welcome, error) {
	a := c.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Epoch != 0 {
		if h.Lineage == "" || a.lineage != "" && h.Lineage != a.lineage {
			return remote.Welcome{}, fmt.Errorf("this Pod belongs to another state than %q", h.Lineage)
		}
		if err := a.fence.Refuses(h, "the Pod"); err != nil {
			return remote.Welcome{}, err
		}
		a.lineage, a.fence = h.Lineage, a.fence.Admit(h)
		for other := range a.clients {
			if other != c && other.hello.Epoch != 0 {
				other.dropped = true
				other.drop(a.fence.Taken())
			}
		}
	}
	c.hello = h
	name, err := os.Hostname()
	return remote.Welcome{Build: remote.AgentVersion, Boot: a.boot, Clock: time.Now(),
		Facts: protocol.HostFacts{Hostname: name, OS: remote.ClusterOS, Arch: runtime.GOARCH, Machine: a.boot}}, err
}

// Acts implements remote.Place.
func (c *client) Acts(_ context.Context, h remote.Hello) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds(h)
}

// holds returns an error if another client was admitted to act since: also if that has the same run,
// whose lost connection may still bring a request that it has sent again. The caller must hold the lock.
func (c *client) holds(h remote.Hello) error {
	switch {
	case h.Epoch == 0:
		return errors.New("this client may only read")
	case c.dropped || c.fence.Epoch != h.Epoch || c.fence.Run != h.Run:
		return c.fence.Taken()
	}
	return nil
}

// acts returns an error unless the client may begin an action now, and otherwise notes that it does.
func (c *client) acts() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.holds(c.hello)
	c.fence.Acted = c.fence.Acted || err == nil
	return err
}

// Run implements runner.Runner.
func (c *client) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Kind == runner.Action {
		return c.actions.run(ctx, c.pool, s, c.acts)
	}
	if c.stopping() {
		return runner.Result{}, errDeleted
	}
	return c.pool.Run(ctx, s)
}

// Launch implements runner.Launcher. The program ends with the connection.
func (c *client) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if c.stopping() {
		return nil, errDeleted
	}
	return c.programs.Launch(ctx, s)
}

func (c *client) stopping() bool {
	c.actions.mu.Lock()
	defer c.actions.mu.Unlock()
	return c.actions.stopping
}

// Resolve implements runner.Runner: it knows what this container is.
func (c *client) Resolve(_ context.Context, reference string) (runner.Image, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.images {
		if s.Name == reference || s.Digest == reference {
			return runner.Image{Reference: s.Name, Digest: s.Digest, Pulled: true}, nil
		}
	}
	return runner.Image{}, fmt.Errorf("%s: %w", reference, runner.ErrNoImage)
}

// Receive implements remote.Place: the client, which has made this Pod, reports what image it is of.
func (c *client) Receive(_ context.Context, s runner.Shipment, _ runner.Contents) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images[s.Digest] = s
	return nil
}

// Bring implements remote.Place: files of an artifact come before the container starts.
func (c *client) Bring(context.Context, remote.Files, io.Reader) error {
	return errors.New("a container that has started receives no files")
}

// Look implements remote.Place: plugs are volumes of the Pod.
func (c *client) Look(_ context.Context, plugs []remote.Plug) []remote.Seen {
	seen := make([]remote.Seen, len(plugs))
	for i := range seen {
		seen[i].Error = "a Pod knows only its own volumes"
	}
	return seen
}

// Adopt implements runner.Adopter.
func (c *client) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	return c.actions.adopt(ctx, id, w)
}

// Running implements remote.Place.
func (c *client) Running(_ context.Context, id string) (bool, error) {
	one := c.actions.find(id)
	return one != nil && !closed(one.done), nil
}

// Discard implements runner.Adopter.
func (c *client) Discard(_ context.Context, id string) error { return c.actions.discard(id) }

// connect adds a client, whose connection drop ends.
func (a *agent) connect(drop context.CancelCauseFunc) *client {
	c := &client{agent: a, drop: drop}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients[c] = true
	a.since = time.Time{}
	return c
}

// leave removes a client whose connection has ended.
func (a *agent) leave(c *client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.clients, c)
	if len(a.clients) == 0 {
		a.since = time.Now()
	}
}

// dropAll ends the connections of all clients.
func (a *agent) dropAll(why error) {
	a.mu.Lock()
	all := slices.Collect(maps.Keys(a.clients))
	a.mu.Unlock()
	for _, c := range all {
		c.drop(why)
	}
}

// alone returns since when there is no client; zero = there is one.
func (a *agent) alone() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since
}
