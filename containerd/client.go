package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"deployster/containerd/shim"
	"deployster/internal/base/diag"
)

// Runtime runs images. It implements invoke.Runner, is safe for concurrent
// use, and must be closed.
type Runtime struct {
	client      *client.Client
	namespace   string
	snapshotter string
	runtimeDir  string
	dataDir     string // of the embedded containerd
	registries  *registries
	runc        string // "" = the daemon's own
	embedded    bool
	keep        time.Duration // for which workers are kept that this command has used; 0 = not at all
	keepScope   string
	private     func(text string) bool // nothing that knows it is kept; nil = there is none
	server      serverConfig           // of the embedded containerd
	socket      string
	comeBack    func(context.Context) error // the server that was lost

	id   string
	held *presence // says that this client is alive

	runs atomic.Int64 // numbers the containers
	left atomic.Bool  // something could not be removed
	// The containers of actions that this client no longer looks after, by ID.
	surrendered sync.Map
	runsOpen    sync.WaitGroup
	reuse       reuse
	clearing    clearing
	images      imageCache
	host        host
	own         []string // the directories of deployster and its containerd
	background  sync.WaitGroup
	stop        context.CancelFunc // of the background

	profileOnce sync.Once
	profile     string // of AppArmor; "" = it is not there
	profileErr  error
	idsOnce     sync.Once
	idRange     *idRange // of containers with a user namespace
	idsErr      error

	warn     func(*diag.Diagnostic)
	lostOnce sync.Once // the daemon's loss is said

	leaseMu   sync.Mutex
	lease     leases.Lease // made at the first run
	closeOnce sync.Once
	closeErr  error
}

// Open makes a Runtime. With the embedded containerd it starts that, if it
// does not run yet. Its errors are diagnostics.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Runtime{namespace: o.Namespace, runtimeDir: o.RuntimeDir, dataDir: o.DataDir, embedded: o.Address == "", keep: o.Keep, keepScope: o.KeepScope, private: o.Private, id: newID(),
		registries: newRegistries(o.Registries), warn: o.warn}
	r.reuse.agent = findAgent()
	r.host, r.own = probeHost(), []string{o.RuntimeDir}
	if r.embedded {
		r.own = append(r.own, o.DataDir)
	}
	// What the libraries of a client log says nothing that their errors do not
	// say, and must not get to a terminal.
	log.L.Logger.SetOutput(io.Discard)
	r.server = o.server()
	if r.comeBack = r.awaitDaemon; r.embedded {
		r.comeBack = r.relaunch
	}
	socket := r.server.socket()
	if r.embedded {
		err = r.openEmbedded(ctx, o)
	} else {
		// One that is asked for is used by a daemon too; else it has its own.
		if o.Runc != "" {
			r.runc = runcPath(o.Runc)
		}
		socket, err = r.openDaemon(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	r.socket = socket
	if r.client, err = dial(socket, o.Namespace); err == nil {
		err = r.findSnapshotter(ctx)
		if r.embedded && errdefs.IsUnavailable(err) && r.revive(ctx) == nil { // it was killed a moment ago
			err = r.findSnapshotter(ctx)
		}
	}
	if err != nil {
		why := errNoAnswer(socket, err)
		if r.embedded {
			why = errStuck(o.server(), err)
		}
		return nil, errors.Join(why, r.Close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	if !r.embedded {
		r.background.Add(1)
		go func() {
			defer r.background.Done()
			checkDaemonRunc(background, socket, o.warn)
			// Whoever comes next tries again: nothing is lost by a failure.
			_ = r.sweeper().sweep(background, true)
		}()
	}
	return r, nil
}

// openEmbedded finds runc and the server at the same time.
func (r *Runtime) openEmbedded(ctx context.Context, o Options) error {
	if os.Geteuid() != 0 {
		return errNotRoot()
	}
	if err := usableDir(o.DataDir); err != nil {
		return errDataDir(o.DataDir, err)
	}
	if err := awaitAbandoned(ctx, o.server()); err != nil {
		return err
	}
	if err := usableDir(o.RuntimeDir); err != nil {
		return errRuntimeDir(o.RuntimeDir, err)
	}
	found := make(chan error, 1)
	go func() {
		var err error
		r.runc, err = findRunc(ctx, o)
		found <- err
	}()
	held, err := attach(ctx, o.server(), r.id)
	if runcErr := <-found; runcErr != nil {
		if held != nil {
			runcErr = errors.Join(runcErr, held.release())
		}
		return runcErr
	}
	r.held = held
	return err
}

// openDaemon checks what can be checked of a running daemon.
func (r *Runtime) openDaemon(ctx context.Context, o Options) (socket string, err error) {
	if socket, err = checkAddress(o.Address); err != nil {
		return "", err
	}
	conn, err := net.DialTimeout("unix", socket, 5*time.Second)
	if err != nil {
		return "", errNoDaemon(o.Address, err)
	}
	_ = conn.Close()
	if err := usableDir(o.RuntimeDir); err != nil {
		return "", errRuntimeDir(o.RuntimeDir, err)
	}
	if r.held, err = register(ctx, o.RuntimeDir, r.id); err != nil {
		return "", errRuntimeDir(o.RuntimeDir, err)
	}
	return socket, nil
}

// usableDir makes a directory, if need be, and makes sure that it can be
// written. A server that ends takes its directories along: what was there is
// made once more.
func usableDir(dir string) (err error) {
	const attempts = 20
	for range attempts {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = unix.Access(dir, unix.W_OK|unix.X_OK)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// dial makes a client of a containerd that is known to listen. The time is how
// long a call waits for the socket to come back when it has gone since.
func dial(socket, namespace string) (*client.Client, error) {
	return client.New(socket, client.WithDefaultNamespace(namespace), client.WithDefaultRuntime(shim.Runtime), client.WithTimeout(time.Second))
}

// ctx marks a context with the namespace, for calls that bypass the client's
// own handling of it.
func (r *Runtime) ctx(ctx context.Context) context.Context {
	return namespaces.WithNamespace(ctx, r.namespace)
}

// detached is a context for what must be done even when the caller is gone.
func (r *Runtime) detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.ctx(context.WithoutCancel(ctx)), limit)
}

// leaseOf is the name of a client's lease.
func leaseOf(client string) string { return "deployster-" + client }

// leased marks a context so that what it makes is kept until something else
// refers to it. One lease serves a Runtime from its first run to its end.
func (r *Runtime) leased(ctx context.Context) (context.Context, error) {
	r.leaseMu.Lock()
	defer r.leaseMu.Unlock()
	if r.lease.ID == "" {
		making, cancel := r.detached(ctx, time.Minute)
		defer cancel()
		lease, err := r.client.LeasesService().Create(making,
			leases.WithID(leaseOf(r.id)), leases.WithLabels(map[string]string{labelClient: r.clientPath()}))
		if err != nil {
			return nil, err
		}
		r.lease = lease
	}
	return leases.WithLease(ctx, r.lease.ID), nil
}

// expectRuns makes what the first run needs while its image is looked for. That
// it fails is noticed by that run, which tries again.
func (r *Runtime) expectRuns(ctx context.Context) {
	// How a specification is written as JSON is worked out with the first one, which
	// takes a millisecond.
	r.runsOpen.Go(func() { _, _ = json.Marshal(&specs.Spec{}) }) // it can be written
	r.runsOpen.Add(1)
	go func() {
		defer r.runsOpen.Done()
		_, _ = r.leased(ctx)
	}()
}

func (r *Runtime) sweeper() sweeper {
	return sweeper{client: r.client, namespace: r.namespace, runtimeDir: r.runtimeDir, embedded: r.embedded, outcomes: r.outcomes()}
}

func (r *Runtime) clientPath() string { return filepath.Join(clientsDir(r.runtimeDir), r.id) }

// Close waits for runs that are not over and gives up everything that a
// Runtime holds. An embedded containerd stays for the next one, for a while.
func (r *Runtime) Close() error {
	r.closeOnce.Do(func() { r.closeErr = r.close() })
	return r.closeErr
}

func (r *Runtime) close() error {
	r.runsOpen.Wait()
	if r.stop != nil {
		r.stop()
	}
	r.background.Wait()
	var errs []error
	if r.client != nil {
		errs = append(errs, r.cool())
		left, err := r.leave()
		if errs = append(errs, err); left {
			return errors.Join(errs...)
		}
		if r.lease.ID != "" {
			ctx, cancel := r.detached(context.Background(), time.Minute)
			err := r.client.LeasesService().Delete(ctx, r.lease)
			for errdefs.IsUnavailable(err) && r.revive(ctx) == nil { // it was killed a moment ago, or is being killed
				err = unlessGone(r.client.LeasesService().Delete(ctx, r.lease))
			}
			errs = append(errs, err)
			cancel()
		}
		errs = append(errs, r.client.Close())
	}
	if r.held != nil {
		if r.left.Load() {
			// With the file, but without its lock, this client counts as dead,
			// and is swept after.
			return errors.Join(append(errs, r.held.file.Close())...)
		}
		errs = append(errs, os.RemoveAll(r.ioDir()), r.held.release())
	}
	return errors.Join(errs...)
}
