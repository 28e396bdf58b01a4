package machine

import (
	"context"
	"errors"
	"path/filepath"
	goruntime "runtime"
	"time"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/images"
	"deployster/internal/app/vault"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/worker"
	"deployster/internal/runtime/secretread"
	"deployster/protocol"
	"deployster/state"
)

// Runtime runs images. containerd.Runtime is one.
type Runtime interface {
	runner.Runner
	runner.Launcher
	runner.Adopter
	images.Runtime
	runner.Inspector
	Artifacts() string           // the directory of the files of artifacts, in the data directory
	Withheld(path string) string // why containers must not get a path of this machine; "" = they may
	router.Images
	// Running reports whether an action still runs.
	Running(ctx context.Context, id string) (bool, error)
	Close() error
}

// Place is where images run: this machine, or this machine and hosts.
type Place interface {
	runner.Runner
	runner.Launcher
}

// Options declare how a machine is opened.
type Options struct {
	// Open connects to the container runtime.
	Open func(context.Context) (Runtime, error)
	// Bundled are the images that come with deployster, for which Open is not called before one of them runs here, or
	// another image is needed; nil = Open is called at once.
	Bundled Bundled
	// Artifacts is what the Runtime of Open returns as such. It is used with Bundled only.
	Artifacts string
	// NotHere returns the error about what would run on this machine; nil = images can run here. Then they answer init here.
	NotHere func() error
	// Dial connects to a host; nil = no host can be reached.
	Dial func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error)
	// MayHaveMachine returns why an image may not have the whole machine; nil = all may.
	MayHaveMachine func(reference string) error
	MaxArtifacts   int64 // the limit of the artifact store in bytes; 0 = the default
}

// Connections is how many connections are open at a time, unless more hosts are worked on. A plan
// visits all hosts three times: for facts, for plugs and for states. A host whose connection was
// closed to make room is connected to again each time, and its workers start again.
const Connections = 256

// Machine is this machine, with a connection to its container runtime.
type Machine struct {
	Runtime Runtime
	Places  *router.Places   // this machine and hosts, for queries: hosts learn of no new holder
	Files   *Files           // of artifacts
	pool    *worker.Pool     // runs images with the runtime, in workers where it can
	initAt  *runner.Host     // where images answer init; nil = here, or on a host that the type has
	others  []*router.Places // of There
	leases  *vault.Leases    // of the secrets that were read
	options Options
	retry   time.Duration // how long a lost connection to a host is tried again
}

// Open connects to the container runtime.
func Open(ctx context.Context, w *workspace.Workspace, o Options) (*Machine, error) {
	patience, err := workspace.HostPatience(w.Options)
	if err != nil {
		return nil, err
	}
	var runtime Runtime = &onDemand{bundled: o.Bundled, artifacts: o.Artifacts, connect: o.Open}
	if o.Bundled == nil {
		if runtime, err = o.Open(ctx); err != nil {
			return nil, err
		}
	}
	m := &Machine{Runtime: runtime, Files: &Files{}, options: o, retry: patience, leases: vault.NewLeases(w.Warn),
		pool: worker.New(worker.Options{Runner: runtime, Launcher: runtime, Max: goruntime.NumCPU(), Keep: true,
			Private: w.Secrets.Private, Hide: w.Secrets.Hide})}
	m.Places = m.Connect(remote.Hello{}, nil)
	return m, nil
}

// local is this machine as a place.
type local struct {
	runner.Runner // in workers where it can
	runner.Launcher
	router.Adopter
}

// Connect returns this machine and the hosts as places, without connections to hosts. Hosts are
// greeted with an identity. holds confirms that this command still holds its state; nil = it has none. It must be closed
// before the machine is.
func (m *Machine) Connect(as remote.Hello, holds func() error) *router.Places {
	dial := func(ctx context.Context, h runner.Host) (*remote.Client, error) {
		if m.options.Dial == nil {
			return nil, errors.New("this program cannot reach hosts")
		}
		client, err := m.options.Dial(ctx, h, as)
		if err != nil || holds == nil || !client.Welcome().Unproven {
			return client, err
		}
		if err := holds(); err != nil {
			_ = client.Close() // nothing was requested over it
			return nil, &remote.RefusedError{Reason: "it has no record of who acts for this state, and the state is not held any more: " +
				err.Error()}
		}
		return client, nil
	}
	data := ""
	if files := m.Runtime.Artifacts(); files != "" {
		data = filepath.Dir(files)
	}
	fresh := func(ctx context.Context, h runner.Host) (*remote.Client, error) {
		if m.options.Dial == nil {
			return nil, errors.New("this program cannot reach hosts")
		}
		return m.options.Dial(ctx, h, remote.Hello{Process: as.Process, Fresh: true})
	}
	return router.New(router.Options{Local: local{m.pool, m.Runtime, m.Runtime}, Images: m.Runtime, Dial: dial, Fresh: fresh, DataDir: data,
		Patience: m.retry, MayHaveMachine: m.options.MayHaveMachine, Most: Connections})
}

// Reader returns this machine and the hosts for a command that reads which actions of a state run: a cluster finds them by their state.
func (m *Machine) Reader(lineage string) *router.Places {
	return m.Connect(remote.Hello{Lineage: lineage}, nil)
}

// WithFiles returns the same machine with a store of artifacts of its own, which is opened when it
// is first needed.
func (m *Machine) WithFiles() *Machine {
	child := *m
	child.Files = &Files{}
	return &child
}

// Close gives back what secrets have opened, and closes the connections and the runtime. The store of artifacts was closed before.
func (m *Machine) Close() error {
	m.leases.Close()
	m.Places.Close()
	for _, at := range m.others {
		at.Close()
	}
	m.pool.Close()
	return m.Runtime.Close()
}

// Client returns a client for images at places, which shows and records what they print. Values
// that the state marks as sensitive are hidden like those of the manifest.
func (m *Machine) Client(c command.Command, at *router.Places, prior state.Snapshot, pins map[string]string,
	r *images.Resolver) *typeclient.Client {
	c.Learn(prior)
	w := c.Work
	o := typeclient.Options{Runner: at, Inspector: m.Runtime, Version: w.Version, Verbose: w.Verbose, Workspace: w.Dir,
		Pins: pins, Obtain: r.Use, Log: c.Line, Waiting: c.Waiting, Secret: w.Secrets.Learn, Hide: w.Secrets.Hide, Record: c.Records().Add,
		Inits: workspace.NewInitCache(w.Dir), Facts: at.Facts, Guardian: at}
	switch {
	case m.initAt != nil:
		o.InitOn = initOn(at, func(string) []runner.Host { return []runner.Host{*m.initAt} })
	case m.NotHere() != nil:
		o.InitOn = initOn(at, r.Hosts)
	default:
		o.InitOn = m.bundledOnHosts(initOn(at, r.Hosts), inClusters(initOn(at, r.Clusters)))
	}
	if m.options.Bundled != nil {
		o.Answers = m.options.Bundled.Answer
	}
	secrets := vault.New(r.Secrets(), w.Reader().Secrets, m.leases)
	o.Secrets = secrets
	client := typeclient.New(o)
	secrets.Use(secretread.New(client, protocol.InitInput{Version: w.Version, Verbose: w.Verbose, Workspace: w.Dir,
		Protocol: protocol.Versions{Min: protocol.MinVersion, Max: protocol.MaxVersion}}))
	return client
}

// Resolver returns what fetches the images of a manifest as the lock file of a directory pins them.
func (m *Machine) Resolver(dir string, of *config.Manifest) (*images.Resolver, error) {
	lock, err := images.ReadLock(dir)
	if err != nil {
		return nil, err
	}
	r := images.NewResolver(m.Runtime, of, lock)
	r.Machine = m.options.MayHaveMachine
	r.Here, r.Open = m.NotHere(), m.open
	return r, nil
}

// NotHere returns what returns the error about what would run on this machine; nil = images can run here.
func (m *Machine) NotHere() func() error { return m.options.NotHere }

// open opens the runtime, if that waits for what needs it.
func (m *Machine) open(ctx context.Context) error {
	_, err := m.Opened(ctx)
	return err
}

// Opened returns the runtime itself, for a caller that needs it in any case.
func (m *Machine) Opened(ctx context.Context) (Runtime, error) {
	if waits, is := m.Runtime.(*onDemand); is {
		return waits.open(ctx)
	}
	return m.Runtime, nil
}

// isOpen reports whether the runtime is open.
func (m *Machine) isOpen() bool {
	waits, is := m.Runtime.(*onDemand)
	return !is || waits.isOpen()
}
