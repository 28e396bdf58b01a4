package containerd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/containerd/log"

	"deployster/containerd/adopt"
	"deployster/containerd/agentconn"
	"deployster/containerd/daemon"
	"deployster/containerd/idlepool"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/sweep"
	"deployster/containerd/unpacked"
	"deployster/containerd/volumes"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/machinegrant"
)

// Runtime runs images. It implements runner.Runner, is safe for concurrent
// use, and must be closed.
type Runtime struct {
	Images    *unpacked.Images
	conn      *daemon.Conn
	sandboxes *sandbox.Maker
	keep      time.Duration // how long workers of this command are kept; 0 = not at all
	keepScope string
	private   func(text string) bool // reports texts that no kept container may know; nil = there are none

	actions    *adopt.Actions
	runsOpen   sync.WaitGroup
	shared     sharedContainers
	pool       idlepool.Client
	closing    chan struct{} // closed when the Runtime starts no more runs
	background sync.WaitGroup
	stop       context.CancelFunc // stops the background

	warn     func(*diag.Diagnostic)
	lostOnce sync.Once // the warning about the loss of the daemon

	closeOnce sync.Once
	closeErr  error
}

// Open opens a Runtime. It starts the embedded containerd if that is used and does not
// run yet. Its errors are diagnostics.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	// The logs of the client libraries report nothing that their errors do not report, and must
	// not reach a terminal.
	log.L.Logger.SetOutput(io.Discard)
	conn, err := daemon.Open(ctx, o.conn())
	if err != nil {
		return nil, err
	}
	r := &Runtime{conn: conn, Images: unpacked.New(conn, o.Registries), sandboxes: sandbox.NewMaker(sandboxes(conn, o.Machines)),
		keep: o.Keep, keepScope: o.KeepScope, private: o.Private, warn: o.warn}
	r.pool = idlepool.NewClient(conn.Config.PoolSocket())
	r.actions = adopt.New(conn, r.sweeper())
	r.closing = make(chan struct{})
	r.shared.agent = agentconn.Find()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	if r.stop = stop; !conn.Embedded {
		r.background.Go(func() {
			daemon.CheckDaemonRunc(background, conn.Socket, o.warn)
			// The next client tries again: a failure loses nothing.
			_ = r.sweeper().Sweep(background, true)
		})
	}
	return r, nil
}

// sandboxes returns the options for the containers of a connection.
func sandboxes(c *daemon.Conn, machines machinegrant.List) sandbox.Options {
	kept := []string{c.Config.Artifacts(), c.Config.Volumes(), filepath.Join(c.Config.DataDir, "guard")}
	o := sandbox.Options{Own: append(kept[:3:3], c.Config.RuntimeDir), Kept: kept, RuntimeDir: c.Config.RuntimeDir, Embedded: c.Embedded,
		Snapshotter: c.Snapshotter, Capabilities: c.SnapshotterCapabilities, Machines: machines}
	if c.Embedded {
		o.Own = append(o.Own, c.Config.DataDir)
	}
	return o
}

// outcomes returns the directory where this Runtime, and whoever sweeps after other
// clients, saves how actions ended. With a daemon it is lost when the machine restarts,
// like the containers that it is derived from.
func (r *Runtime) outcomes() runfiles.Outcomes {
	if r.conn.Embedded {
		return runfiles.Outcomes(r.conn.Config.Outcomes())
	}
	return runfiles.Outcomes(filepath.Join(r.conn.Config.RuntimeDir, "outcomes"))
}

// volumes returns the directory of the volumes of this Runtime.
func (r *Runtime) volumes() string { return volumes.Root(r.conn.Config) }

// Artifacts returns the directory for the store of artifacts: on the file system of the volumes.
func (r *Runtime) Artifacts() string { return r.conn.Config.Artifacts() }

// Withheld returns why a path of this machine is never mounted into a container, or "".
func (r *Runtime) Withheld(path string) string { return r.sandboxes.Withheld(path) }

// RuncVersion returns the version of the runc that it uses; "" = unknown.
func (r *Runtime) RuncVersion(ctx context.Context) string { return r.conn.RuncVersion(ctx) }

func (r *Runtime) sweeper() sweep.Sweeper {
	return sweep.Sweeper{Client: r.conn.Client, Namespace: r.conn.Config.Namespace, RuntimeDir: r.conn.Config.RuntimeDir,
		Embedded: r.conn.Embedded, Outcomes: r.outcomes(), Volumes: r.volumes()}
}

// Close waits for runs that are not over and releases everything that a Runtime holds. An
// embedded containerd stays for the next one, for a while.
func (r *Runtime) Close() error {
	r.closeOnce.Do(func() { r.closeErr = r.close() })
	return r.closeErr
}

func (r *Runtime) close() error {
	close(r.closing)
	r.runsOpen.Wait()
	if r.stop != nil {
		r.stop()
	}
	r.background.Wait()
	return errors.Join(r.closeIdle(), r.conn.Close())
}
