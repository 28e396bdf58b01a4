package containerd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/containerd/log"

	"deployster/containerd/daemon"
	"deployster/containerd/idlepool"
	"deployster/containerd/images"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/sweep"
	"deployster/containerd/volumes"
	"deployster/internal/base/diag"
)

// Runtime runs images. It implements runner.Runner, is safe for concurrent
// use, and must be closed.
type Runtime struct {
	*images.Store
	*images.Shipper
	conn      *daemon.Conn
	sandboxes *sandbox.Maker
	keep      time.Duration // for which workers are kept that this command has used; 0 = not at all
	keepScope string
	private   func(text string) bool // nothing that knows it is kept; nil = there is none

	// The containers of actions that this client no longer looks after, by ID.
	surrendered sync.Map
	runsOpen    sync.WaitGroup
	shared      sharedContainers
	pool        idlepool.Client
	closing     chan struct{} // closed when nothing is run any more
	background  sync.WaitGroup
	stop        context.CancelFunc // of the background

	warn     func(*diag.Diagnostic)
	lostOnce sync.Once // the daemon's loss is said

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
	// What the libraries of a client log says nothing that their errors do not
	// say, and must not get to a terminal.
	log.L.Logger.SetOutput(io.Discard)
	conn, err := daemon.Open(ctx, o.conn())
	if err != nil {
		return nil, err
	}
	r := &Runtime{conn: conn, Store: images.NewStore(conn, o.Registries), sandboxes: sandbox.NewMaker(sandboxes(conn)),
		keep: o.Keep, keepScope: o.KeepScope, private: o.Private, warn: o.warn}
	r.Shipper = images.NewShipper(r.Store)
	r.pool = idlepool.NewClient(conn.Config.PoolSocket())
	r.closing = make(chan struct{})
	r.shared.agent = findAgent()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	if r.stop = stop; !conn.Embedded {
		r.background.Go(func() {
			daemon.CheckDaemonRunc(background, conn.Socket, o.warn)
			// Whoever comes next tries again: nothing is lost by a failure.
			_ = r.sweeper().Sweep(background, true)
		})
	}
	return r, nil
}

// sandboxes says what the containers of a connection depend on.
func sandboxes(c *daemon.Conn) sandbox.Options {
	kept := []string{c.Config.Artifacts(), c.Config.Volumes()}
	o := sandbox.Options{Own: append(kept[:2:2], c.Config.RuntimeDir), Kept: kept, RuntimeDir: c.Config.RuntimeDir, Embedded: c.Embedded,
		Snapshotter:  c.Snapshotter,
		Capabilities: c.SnapshotterCapabilities}
	if c.Embedded {
		o.Own = append(o.Own, c.Config.DataDir)
	}
	return o
}

// outcomes is where this Runtime, and whoever sweeps after others, keeps how
// actions ended. That of a daemon's goes with the machine's next start, as what
// it would be told from does.
func (r *Runtime) outcomes() runfiles.Outcomes {
	if r.conn.Embedded {
		return runfiles.Outcomes(r.conn.Config.Outcomes())
	}
	return runfiles.Outcomes(filepath.Join(r.conn.Config.RuntimeDir, "outcomes"))
}

// volumes is where the volumes of this Runtime are.
func (r *Runtime) volumes() string { return volumes.Root(r.conn.Config) }

// Artifacts is where the store of artifacts is to be: on the file system of the volumes.
func (r *Runtime) Artifacts() string { return r.conn.Config.Artifacts() }

// Withheld says why a directory or a file of this machine is given to no container, or "".
func (r *Runtime) Withheld(path string) string { return r.sandboxes.Withheld(path) }

// RuncVersion is that of the runc that makes its containers; "" = that is not known.
func (r *Runtime) RuncVersion(ctx context.Context) string { return r.conn.RuncVersion(ctx) }

func (r *Runtime) sweeper() sweep.Sweeper {
	return sweep.Sweeper{Client: r.conn.Client, Namespace: r.conn.Config.Namespace, RuntimeDir: r.conn.Config.RuntimeDir,
		Embedded: r.conn.Embedded, Outcomes: r.outcomes(), Volumes: r.volumes()}
}

// Close waits for runs that are not over and gives up everything that a
// Runtime holds. An embedded containerd stays for the next one, for a while.
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
