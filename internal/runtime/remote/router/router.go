package router

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
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// Adopter adopts actions at one place.
type Adopter interface {
	runner.Adopter
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
}

// Runtime runs images at one place.
type Runtime interface {
	runner.Runner
	runner.Launcher
	Adopter
}

// Images are the images of this machine, which hosts may lack.
type Images interface {
	runner.Contents
	// Shipment makes all contents available here that a machine of the architecture needs.
	Shipment(ctx context.Context, digest, arch string) (runner.Shipment, error)
	// Named returns the name, the digest and the platforms of an image, for a host that fetches it itself.
	Named(ctx context.Context, digest string) (runner.Shipment, error)
}

// Options are the constants of Places.
type Options struct {
	Local  Runtime
	Images Images
	// DataDir keeps what states have declared on this machine; "" = that is not kept.
	DataDir string
	// Dial reaches a host.
	Dial func(ctx context.Context, h runner.Host) (*remote.Client, error)
	// Fresh reaches a host with a TCP connection and a login of its own, to read only.
	Fresh func(ctx context.Context, h runner.Host) (*remote.Client, error)
	// MayHaveMachine returns why an image may not have a host as a whole; nil = all may.
	MayHaveMachine func(reference string) error
	// Patience is how long to try to reconnect after a connection was lost; 0 =
	// DefaultPatience.
	Patience time.Duration
	// Most limits how many connections are open, unless more are in use: a connection to a
	// further host closes an idle one. 0 = no limit.
	Most int
}

// DefaultPatience is the default of Options.Patience.
const DefaultPatience = 2 * time.Minute

// Places is a runner.Runner that runs images here and on hosts. The caller must close it.
type Places struct {
	o Options

	mu    sync.Mutex
	hosts map[string]*host // by name

	dialling chan struct{} // has an element for each host that is being dialled
}

// dialsEach is how many hosts are dialled at a time for each processor. A greeting takes a tenth
// of a second of processor time: a host that waits behind too many others would seem to be down.
const dialsEach = 8

// New returns Places without connections.
func New(o Options) *Places {
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	return &Places{o: o, hosts: map[string]*host{}, dialling: make(chan struct{}, dialsEach*runtime.NumCPU())}
}

// Resolve implements runner.Runner. It resolves images here; run ships them to hosts.
func (p *Places) Resolve(ctx context.Context, reference string) (runner.Image, error) {
	return p.o.Local.Resolve(ctx, reference)
}

// Run implements runner.Runner.
func (p *Places) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if s.Settings.Host == nil {
		return p.o.Local.Run(ctx, s)
	}
	if err := p.o.mayRun(s); err != nil {
		return runner.Result{}, err
	}
	h := p.host(*s.Settings.Host)
	if err := h.expect(ctx, s.Settings.Host.Machine); err != nil {
		return runner.Result{}, err
	}
	return h.run(ctx, s)
}

// AdopterFor returns the Adopter of a place; nil = here.
func (p *Places) AdopterFor(h *runner.Host) Adopter {
	if h == nil {
		return p.o.Local
	}
	return &expected{p.host(*h), h.Machine}
}

// Welcome connects to a host and returns the host's description of itself.
func (p *Places) Welcome(ctx context.Context, h runner.Host) (remote.Welcome, error) {
	at := p.host(h)
	client, err := at.connect(ctx)
	if err != nil {
		return remote.Welcome{}, err
	}
	defer at.rest()
	return client.Welcome(), nil
}

// Facts connects to a host and returns its facts.
func (p *Places) Facts(ctx context.Context, h runner.Host) (protocol.HostFacts, error) {
	welcome, err := p.Welcome(ctx, h)
	if err != nil {
		return protocol.HostFacts{}, p.host(h).explain(err)
	}
	return welcome.Facts, nil
}

// Reach connects to a host whose address became known only now, or is reached in another
// way than before. It returns the host's facts.
func (p *Places) Reach(ctx context.Context, h runner.Host) (protocol.HostFacts, error) {
	p.mu.Lock()
	h.Machine = "" // any machine may answer
	if before := p.hosts[h.Name]; before != nil && !before.SameWay(h) {
		delete(p.hosts, h.Name)
		defer before.close()
	}
	p.mu.Unlock()
	return p.Facts(ctx, h)
}

// Forget forgets a host and the error of its connection: another machine will take its place.
func (p *Places) Forget(name string) {
	p.mu.Lock()
	before := p.hosts[name]
	delete(p.hosts, name)
	p.mu.Unlock()
	if before != nil {
		before.close()
	}
}

// Lost reports whether some hosts could not be reached and are not dialled any more.
func (p *Places) Lost() (lost bool) {
	p.each(func(h *host) { lost = lost || h.gone != nil })
	return lost
}

// Retry lets these hosts be dialled again, once and without patience. Another machine than
// before may answer: it is refused for resources whose entry or plan names the machine before.
func (p *Places) Retry() {
	p.each(func(h *host) {
		if h.gone != nil {
			h.gone, h.client, h.machine = nil, nil, ""
		}
	})
}

// each calls do for each host that is not being dialled now.
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

// Close ends the connections. The caller must have no call in progress.
func (p *Places) Close() {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.hosts))
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, h := range all {
		closing.Go(h.close)
	}
	closing.Wait()
}

func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		_ = h.client.Close() // the host sees an orderly end
	}
}

// host returns the host of a name. The first call for a name decides how the host is
// reached: a manifest comes before the state file.
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

// Known registers hosts as a manifest or plan has them, before they are requested as the state file has them.
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
	calls atomic.Int64 // in progress over the connection
	idle  atomic.Int64 // when the last call ended, as Unix time in nanoseconds

	mu      sync.Mutex
	client  *remote.Client // nil = there was no connection yet
	machine string         // the machine that answered first
	gone    error          // why it is not dialled any more

	sentMu sync.Mutex
	sent   map[string]*sending // over this connection, by digest of an image or key of files
}

// OtherMachineError reports that another machine answers than before in this command.
type OtherMachineError struct{ Host string }

func (e *OtherMachineError) Error() string {
	return fmt.Sprintf("%s is another machine now than it was a moment ago", e.Host)
}

// connect returns the connection for a call. The caller must call rest after the call.
func (h *host) connect(ctx context.Context) (*remote.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	client, err := h.connected(ctx)
	if err == nil {
		h.calls.Add(1)
	}
	return client, err
}

// rest records the end of a call.
func (h *host) rest() {
	h.idle.Store(time.Now().UnixNano())
	h.calls.Add(-1)
}

// connected returns the connection, and makes it if there is none or if it is lost. A
// host that cannot be reached is not dialled again by this command.
func (h *host) connected(ctx context.Context) (*remote.Client, error) {
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
		_ = client.Close() // another machine than before
		h.gone = &OtherMachineError{h.Name}
		return nil, h.gone
	}
	h.client, h.machine = client, machine
	h.nothingSent()
	return client, nil
}

// dial dials the host. If there was a connection before, dial tries until the patience is used up.
func (h *host) dial(ctx context.Context, before bool) (*remote.Client, error) {
	limit := time.Now().Add(h.o.Patience)
	for pause := nextPause(0); ; pause = nextPause(pause) {
		client, err := h.among.reach(ctx, h.Host)
		if err == nil || !before || ctx.Err() != nil || diag.Is[*remote.RefusedError](err) || time.Now().Add(pause).After(limit) {
			return client, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// again calls do with the connection, and again with a new one when the connection is
// lost. A call that ran for longer than the patience starts the count of losses again: an
// adopted action may take hours over a bad network.
func again[T any](ctx context.Context, h *host, do func(*remote.Client) (T, error)) (T, error) {
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

// explain names the host in an error. What a cluster cannot start is not a fault of the host.
func (h *host) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || diag.Is[*runner.StartError](err) {
		return err
	}
	return &runner.HostError{Host: h.Host, Err: err}
}
