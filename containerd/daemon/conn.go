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
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/internal/base/diag"
)

// Options say which containerd is meant.
type Options struct {
	layout.Config
	Address      string // the socket of a running daemon; "" = the embedded one
	Runc         string // the runc to use; "" = beside the executable, then on PATH
	AllowOldRunc bool   // take one with known holes, and warn
	Warn         func(*diag.Diagnostic)
}

// Conn is one client's connection to a containerd.
type Conn struct {
	Client      *client.Client
	Config      layout.Config
	Snapshotter string
	Runc        string // "" = the daemon's own
	Embedded    bool
	ID          string             // of this client
	Lock        *layout.ClientLock // says that this client is alive
	Dirty       atomic.Bool        // something could not be removed

	Socket   string
	ComeBack func(context.Context) error // the server that was lost
	gone     atomic.Bool                 // a daemon was waited for in vain
	number   atomic.Int64                // of the last container

	leaseMu sync.Mutex
	lease   leases.Lease // made at the first run
}

// Open connects to a containerd, and makes this process a client of it. The
// embedded one is started if it does not run. Its errors are diagnostics.
func Open(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{Config: o.Config, Embedded: o.Address == "", ID: layout.NewID(), Socket: o.Socket()}
	var err error
	if c.ComeBack = c.awaitDaemon; c.Embedded {
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
		if c.Embedded && errdefs.IsUnavailable(err) && c.Revive(ctx) == nil { // it was killed a moment ago
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
	return c, nil
}

// openEmbedded finds runc and the server at the same time.
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
	held, err := attach(ctx, c.Config, c.ID)
	if runcErr := <-found; runcErr != nil {
		if held != nil {
			runcErr = errors.Join(runcErr, held.Release())
		}
		return runcErr
	}
	c.Lock = held
	return err
}

// openDaemon checks what can be checked of a running daemon.
func (c *Conn) openDaemon(ctx context.Context, o Options) (err error) {
	// One that is asked for is used by a daemon too; else it has its own.
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

// Dial makes a client of a containerd that is known to listen. The time is how
// long a call waits for the socket to come back when it has gone since.
func Dial(socket, namespace string) (*client.Client, error) {
	return client.New(socket, client.WithDefaultNamespace(namespace), client.WithDefaultRuntime(shim.Runtime),
		client.WithTimeout(time.Second))
}

// Context marks a context with the namespace, for calls that bypass the client's
// own handling of it.
func (c *Conn) Context(ctx context.Context) context.Context {
	return namespaces.WithNamespace(ctx, c.Config.Namespace)
}

// Detached is a context for what must be done even when the caller is gone.
func (c *Conn) Detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Context(context.WithoutCancel(ctx)), limit)
}

// Leased marks a context so that what it makes is kept until something else
// refers to it. One lease serves a client from its first run to its end.
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

// IODir is where the files of this client's runs are.
func (c *Conn) IODir() string { return filepath.Join(c.Config.RuntimeDir, "io", c.ID) }

func (c *Conn) NewContainerID() string { return fmt.Sprintf("%s-%d", c.ID, c.number.Add(1)) }

// MarkDirty has this client swept after its end.
func (c *Conn) MarkDirty() { c.Dirty.Store(true) }

// Close gives up everything that a client has. An embedded containerd stays for
// the next one, for a while.
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
		// With the file, but without its lock, this client counts as dead,
		// and is swept after.
		errs = append(errs, c.Lock.File.Close())
	default:
		errs = append(errs, os.RemoveAll(c.IODir()), c.Lock.Release())
	}
	return errors.Join(errs...)
}

func (c *Conn) deleteLease() error {
	ctx, cancel := c.Detached(context.Background(), time.Minute)
	defer cancel()
	err := c.Client.LeasesService().Delete(ctx, c.lease)
	for errdefs.IsUnavailable(err) && c.Revive(ctx) == nil { // it was killed a moment ago, or is being killed
		err = failure.UnlessGone(c.Client.LeasesService().Delete(ctx, c.lease))
	}
	return err
}

// SnapshotterCapabilities returns what the snapshotter can do.
func (c *Conn) SnapshotterCapabilities() ([]string, error) {
	ctx, cancel := c.Detached(context.Background(), time.Minute)
	defer cancel()
	list, err := c.Client.GetSnapshotterCapabilities(ctx, c.Snapshotter)
	return list, failure.Of("Asking what the snapshotter can do", err)
}

// findSnapshotter takes overlayfs where it works, and else what works everywhere. It
// also finds out whether the server answers.
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
	for _, c.Snapshotter = range []string{"overlayfs", "native"} {
		if works[c.Snapshotter] {
			return nil
		}
	}
	return errors.New("neither of its snapshotters overlayfs and native works")
}
