package places

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/far"
	"deployster/internal/runner"
	"deployster/internal/runner/imagestore"
	"deployster/protocol"
)

// Adopter takes over actions at one place.
type Adopter interface {
	runner.Adopter
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
}

// Runtime is what runs images at one place.
type Runtime interface {
	runner.Runner
	Adopter
}

// Images are those that are here, for hosts that lack them.
type Images interface {
	imagestore.Contents
	// Shipment sees to it that all is here that a machine of an architecture needs.
	Shipment(ctx context.Context, digest, arch string) (imagestore.Shipment, error)
}

// Options are what is constant for Places.
type Options struct {
	Here   Runtime
	Images Images
	// Dial reaches a host.
	Dial func(ctx context.Context, h runner.Host) (*far.Client, error)
	// Patience is how long a connection that was lost is tried to be had again; 0 =
	// DefaultPatience.
	Patience time.Duration
	// Most is how many connections there are at one time, unless more are in use: a further
	// host gets the place of one that is idle. 0 = no limit.
	Most int
}

// DefaultPatience is how long a host that was lost is waited for.
const DefaultPatience = 2 * time.Minute

// Places is a runner.Runner that runs images here and on hosts. It must be closed.
type Places struct {
	o Options

	mu    sync.Mutex
	hosts map[string]*host // by name

	dialling chan struct{} // has one for each host that is being reached
}

// dialsEach is how many hosts are reached at one time, for each processor. To greet one takes
// a tenth of a second of it: those that wait behind too many others would seem to be down.
const dialsEach = 8

// New returns Places without connections.
func New(o Options) *Places {
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	return &Places{o: o, hosts: map[string]*host{}, dialling: make(chan struct{}, dialsEach*runtime.NumCPU())}
}

// Resolve implements runner.Runner: images are resolved here, and shipped.
func (p *Places) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return p.o.Here.Resolve(ctx, reference)
}

// Run implements runner.Runner.
func (p *Places) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Settings.Host == nil {
		return p.o.Here.Run(ctx, s)
	}
	h := p.host(*s.Settings.Host)
	if err := h.expect(ctx, s.Settings.Host.Machine); err != nil {
		return runner.Result{}, err
	}
	return h.run(ctx, s)
}

// On returns what adopts actions at a place; nil = here.
func (p *Places) On(h *runner.Host) Adopter {
	if h == nil {
		return p.o.Here
	}
	return &expected{p.host(*h), h.Machine}
}

// Welcome connects to a host and returns what it says of itself.
func (p *Places) Welcome(ctx context.Context, h runner.Host) (far.Welcome, error) {
	at := p.host(h)
	client, err := at.connect(ctx)
	if err != nil {
		return far.Welcome{}, err
	}
	defer at.rest()
	return client.Welcome(), nil
}

// Facts connects to a host and returns what it is.
func (p *Places) Facts(ctx context.Context, h runner.Host) (protocol.HostFacts, error) {
	welcome, err := p.Welcome(ctx, h)
	if err != nil {
		return protocol.HostFacts{}, p.host(h).explain(err)
	}
	return welcome.Facts, nil
}

// Reach connects to a host that is known only now, or reached in another way than it was,
// and returns what it is.
func (p *Places) Reach(ctx context.Context, h runner.Host) (protocol.HostFacts, error) {
	p.mu.Lock()
	h.Machine = "" // which one answers is to be found out
	if before := p.hosts[h.Name]; before != nil && !before.SameWay(h) {
		delete(p.hosts, h.Name)
		defer before.close()
	}
	p.mu.Unlock()
	return p.Facts(ctx, h)
}

// Forget forgets that a host could not be reached: another machine will be in its place.
func (p *Places) Forget(name string) {
	p.mu.Lock()
	before := p.hosts[name]
	delete(p.hosts, name)
	p.mu.Unlock()
	if before != nil {
		before.close()
	}
}

// Lost reports whether there are hosts that are not tried any more.
func (p *Places) Lost() (lost bool) {
	p.each(func(h *host) { lost = lost || h.gone != nil })
	return lost
}

// Retry lets those be tried again, once and not for a while. Another machine than before
// may answer: what is recorded, or planned, on the one before is refused there.
func (p *Places) Retry() {
	p.each(func(h *host) {
		if h.gone != nil {
			h.gone, h.client, h.machine = nil, nil, ""
		}
	})
}

// each does something with each host that nobody is connecting to.
func (p *Places) each(do func(*host)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		if h.mu.TryLock() {
			do(h)
			h.mu.Unlock()
		}
	}
}

// Look says where plugs lead on a host.
func (p *Places) Look(ctx context.Context, h runner.Host, plugs []far.Plug) ([]far.Seen, error) {
	return again(ctx, p.host(h), func(c *far.Client) ([]far.Seen, error) { return c.Look(ctx, plugs) })
}

// Close ends the connections. Nothing may run any more.
func (p *Places) Close() {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.hosts))
	p.mu.Unlock()
	for _, h := range all {
		h.close()
	}
}

func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		_ = h.client.Close() // it says goodbye
	}
}

// host returns the host of a name. How it is reached counts when it is asked for
// first: a manifest comes before what was recorded.
func (p *Places) host(h runner.Host) *host {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.hosts[h.Name]
	if found == nil {
		found = &host{Host: h, o: p.o, among: p, sent: map[string]*sending{}}
		p.hosts[h.Name] = found
	}
	return found
}

// Known makes hosts known before they are asked for by what was recorded of them.
func (p *Places) Known(hosts []runner.Host) {
	for _, h := range hosts {
		p.host(h)
	}
}

// host is one host, and the connection to it.
type host struct {
	runner.Host
	o     Options
	among *Places
	calls atomic.Int64 // over the connection, now
	idle  atomic.Int64 // since when there are none, in nanoseconds of the clock

	mu      sync.Mutex
	client  *far.Client // nil = there was none yet
	machine string      // that answered first
	gone    error       // why it is not tried any more

	sentMu sync.Mutex
	sent   map[string]*sending // over this connection: by digest of an image, or key of files
}

// OtherMachineError says that another machine answers than before.
type OtherMachineError struct{ Host string }

func (e *OtherMachineError) Error() string {
	return fmt.Sprintf("%s is another machine now than it was a moment ago", e.Host)
}

// connect returns the connection for a call, after which rest is to be called.
func (h *host) connect(ctx context.Context) (*far.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, err := h.connected(ctx)
	if err == nil {
		h.calls.Add(1)
	}
	return client, err
}

// rest says that a call is over.
func (h *host) rest() {
	h.idle.Store(time.Now().UnixNano())
	h.calls.Add(-1)
}

// connected makes the connection if there is none or if it is lost. A host that cannot be
// reached at all is not tried again by this command.
func (h *host) connected(ctx context.Context) (*far.Client, error) {
	if h.gone != nil {
		return nil, h.gone
	}
	if h.client != nil {
		select {
		case <-h.client.Lost():
		default:
			return h.client, nil
		}
	}
	h.among.makeRoom()
	client, err := h.dial(ctx, h.client != nil)
	if err != nil {
		if ctx.Err() == nil {
			h.gone = err
		}
		return nil, err
	}
	machine := client.Welcome().Facts.Machine
	if h.machine != "" && machine != h.machine {
		_ = client.Close() // it is not the one
		h.gone = &OtherMachineError{h.Name}
		return nil, h.gone
	}
	h.client, h.machine = client, machine
	h.nothingSent()
	return client, nil
}

// dial reaches the host; one that was there before is tried for a while.
func (h *host) dial(ctx context.Context, before bool) (*far.Client, error) {
	limit := time.Now().Add(h.o.Patience)
	for pause := nextPause(0); ; pause = nextPause(pause) {
		client, err := h.among.reach(ctx, h.Host)
		if err == nil || !before || ctx.Err() != nil || diag.Is[*far.RefusedError](err) || time.Now().Add(pause).After(limit) {
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// again does something with the connection, and once more with another one when it is
// lost. What went on for longer than a host is waited for was not lost at once: an action
// that is adopted may take hours, over a bad network.
func again[T any](ctx context.Context, h *host, do func(*far.Client) (T, error)) (T, error) {
	var all losses
	for {
		client, err := h.connect(ctx)
		if err != nil {
			var none T
			return none, h.explain(err)
		}
		begun := time.Now()
		result, err := do(client)
		h.rest()
		if !isLost(err) || ctx.Err() != nil {
			return result, err
		}
		if time.Since(begun) > h.o.Patience {
			all = losses{}
		}
		if err := all.wait(ctx, h, err); err != nil {
			return result, err
		}
	}
}

// explain names the host in an error.
func (h *host) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &runner.HostError{Host: h.Host, Err: err}
}
