package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/errdefs"
	"golang.org/x/sys/unix"

	"deployster/containerd/contents"
	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/internal/base/diag"
)

// Options declare which containerd to use.
type Options struct {
	layout.Config
	Address      string // the socket of a running daemon; "" = the embedded one
	Runc         string // the runc to use; "" = next to the executable, then on PATH
	AllowOldRunc bool   // accept a runc with known vulnerabilities, and warn
	Warn         func(*diag.Diagnostic)
}

// Conn is one client's connection to a containerd.
type Conn struct {
	contents.Conn
	Config      layout.Config
	Snapshotter string
	Runc        string // "" = the daemon's own
	Embedded    bool
	ID          string             // of this client
	Lock        *layout.ClientLock // shows that this client is alive
	Dirty       atomic.Bool        // something could not be removed; this client must be swept

	Socket   string
	ComeBack func(context.Context) error // waits for a lost server, or starts it again
	gone     atomic.Bool                 // waiting for a daemon was given up before
	number   atomic.Int64                // of the last container
	started  bool                        // this client has started the embedded server

	leaseMu sync.Mutex
	lease   leases.Lease // created at the first run
}

// Open connects to a containerd, and registers this process as a client of it. It starts
// the embedded one if that does not run. Its errors are diagnostics.
func Open(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{Config: o.Config, Embedded: o.Address == "", ID: layout.NewID(), Socket: o.Socket()}
	c.Namespace = o.Namespace
	var err error
	if c.ComeBack = c.awaitDaemon; c.Embedded {
		c.Disk = o.DataDir
		c.ComeBack = c.relaunch
		err = c.openEmbedded(ctx, o)
	} else {
		err = c.openDaemon(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	if c.Client, err = Dial(c.Socket, c.Config.Namespace); err == nil {
		err = c.findSnapshotter(ctx)
		if c.Embedded && errdefs.IsUnavailable(err) && c.Revive(ctx) == nil { // the server was killed a moment ago
			err = c.findSnapshotter(ctx)
		}
	}
	if err != nil {
		why := errNoAnswer(c.Socket, err)
		if c.Embedded {
			why = errStuck(c.Config, err)
		}
		return nil, errors.Join(why, c.Close())
	}
	if c.started && c.Snapshotter == nativeSnapshotter && o.Warn != nil {
		o.Warn(warnCopies(o.DataDir))
	}
	return c, nil
}

// openEmbedded finds runc and the server concurrently.
func (c *Conn) openEmbedded(ctx context.Context, o Options) error {
	if os.Geteuid() != 0 {
		return errNotRoot()
	}
	if err := usableDir(o.DataDir); err != nil {
		return layout.ErrDataDir(o.DataDir, err)
	}
	if err := awaitAbandoned(ctx, c.Config); err != nil {
		return err
	}
	if err := usableDir(o.RuntimeDir); err != nil {
		return layout.ErrRuntimeDir(o.RuntimeDir, err)
	}
	found := make(chan error, 1)
	go func() {
		var err error
		c.Runc, err = findRunc(ctx, o)
		found <- err
	}()
	held, started, err := attach(ctx, c.Config, c.ID)
	if runcErr := <-found; runcErr != nil {
		if held != nil {
			runcErr = errors.Join(runcErr, held.Release())
		}
		return runcErr
	}
	c.Lock, c.started = held, started
	return err
}

// openDaemon checks the socket of a running daemon, and registers this process as its client.
func (c *Conn) openDaemon(ctx context.Context, o Options) (err error) {
	// A daemon also uses a runc from the options; otherwise it uses its own.
	if o.Runc != "" {
		c.Runc = runcPath(o.Runc)
	}
	if c.Socket, err = checkAddress(o.Address); err != nil {
		return err
	}
	conn, err := net.DialTimeout("unix", c.Socket, 5*time.Second)
	if err != nil {
		return errNoDaemon(o.Address, err)
	}
	_ = conn.Close()
	if err := usableDir(o.RuntimeDir); err != nil {
		return layout.ErrRuntimeDir(o.RuntimeDir, err)
	}
	if c.Lock, err = layout.NewClientLock(ctx, o.RuntimeDir, c.ID); err != nil {
		return layout.ErrRuntimeDir(o.RuntimeDir, err)
	}
	return nil
}

// usableDir creates a directory, if need be, and checks that it is writable. A server
// that ends removes its directories, possibly at the same time: then usableDir creates
// them again.
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

// Dial returns a client of a containerd that is known to listen. The timeout is how long
// a call waits for the socket if it has disappeared since.
func Dial(socket, namespace string) (*client.Client, error) {
	return client.New(socket, client.WithDefaultNamespace(namespace), client.WithDefaultRuntime(shim.Runtime),
		client.WithTimeout(time.Second))
}

// Leased returns a context whose lease keeps new resources until something else refers to
// them. A client has one lease from its first run to its end.
func (c *Conn) Leased(ctx context.Context) (context.Context, error) {
	c.leaseMu.Lock()
	defer c.leaseMu.Unlock()
	if c.lease.ID == "" {
		making, cancel := c.Detached(ctx, time.Minute)
		defer cancel()
		lease, err := c.Client.LeasesService().Create(making,
			leases.WithID(layout.LeaseOf(c.ID)), leases.WithLabels(map[string]string{layout.LabelClient: c.ClientPath()}))
		if err != nil {
			return nil, err
		}
		c.lease = lease
	}
	return leases.WithLease(ctx, c.lease.ID), nil
}

func (c *Conn) ClientPath() string {
	return filepath.Join(layout.ClientsDir(c.Config.RuntimeDir), c.ID)
}

// IODir is the directory of the files of this client's runs.
func (c *Conn) IODir() string { return filepath.Join(c.Config.RuntimeDir, "io", c.ID) }

func (c *Conn) NewContainerID() string { return fmt.Sprintf("%s-%d", c.ID, c.number.Add(1)) }

// MarkDirty makes sure that this client is swept after its end.
func (c *Conn) MarkDirty() { c.Dirty.Store(true) }

// Close releases everything that a client has. An embedded containerd stays for the next
// one, for a while.
func (c *Conn) Close() error {
	var errs []error
	if c.Client != nil {
		if c.lease.ID != "" && !c.Dirty.Load() {
			errs = append(errs, c.deleteLease())
		}
		errs = append(errs, c.Client.Close())
	}
	switch {
	case c.Lock == nil:
	case c.Dirty.Load():
		// With its file, but without the lock, this client counts as dead, and is swept.
		errs = append(errs, c.Lock.File.Close())
	default:
		errs = append(errs, layout.RemoveFiles(c.IODir()), c.Lock.Release())
	}
	return errors.Join(errs...)
}

func (c *Conn) deleteLease() error {
	ctx, cancel := c.Detached(context.Background(), time.Minute)
	defer cancel()
	err := c.Client.LeasesService().Delete(ctx, c.lease)
	for errdefs.IsUnavailable(err) && c.Revive(ctx) == nil { // the server was killed a moment ago, or is being killed
		err = failure.UnlessGone(c.Client.LeasesService().Delete(ctx, c.lease))
	}
	return err
}

// SnapshotterCapabilities returns the capabilities of the snapshotter.
func (c *Conn) SnapshotterCapabilities() ([]string, error) {
	ctx, cancel := c.Detached(context.Background(), time.Minute)
	defer cancel()
	list, err := c.Client.GetSnapshotterCapabilities(ctx, c.Snapshotter)
	return list, failure.Of("Querying the features of the snapshotter", err)
}

// nativeSnapshotter copies all files of an image for each container.
const nativeSnapshotter = "native"

// findSnapshotter chooses overlayfs if it works, otherwise native, which works
// everywhere. It also finds out whether the server answers.
func (c *Conn) findSnapshotter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(c.Context(ctx), bootLimit)
	defer cancel()
	list, err := c.Client.IntrospectionService().Plugins(ctx, "type==io.containerd.snapshotter.v1")
	if err != nil {
		return err
	}
	works := map[string]bool{}
	for _, p := range list.Plugins {
		works[p.ID] = p.InitErr == nil
	}
	for _, c.Snapshotter = range []string{"overlayfs", nativeSnapshotter} {
		if works[c.Snapshotter] {
			return nil
		}
	}
	return errors.New("neither of its snapshotters overlayfs and native works")
}
