package containerd

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/api/types"
	"github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"github.com/containerd/typeurl/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd/ending"
	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
	"deployster/containerd/supervise"
	"deployster/containerd/sweep"
	"deployster/containerd/unpacked"
	"deployster/containerd/volumes"
	"deployster/internal/runtime/runner"
)

const (
	setupLimit = time.Minute // for creating and starting a container

	removeAfter = 200 * time.Millisecond // by then a command that runs a single query has ended
)

// phase reports how far a container has come.
type phase int

const (
	notStarted  phase = iota // not started
	started                  // its start was requested
	taskDeleted              // its task is deleted
)

// holder reports who removes a container.
type holder int

const (
	byClient     holder = iota
	byBackground        // without anybody waiting for it
	byIdlePool          // the idle pool, which keeps it
	bySweep             // it may still run, or its outcome is not recorded, or its removal failed
)

// container is a container of a client, from its creation to its removal.
type container struct {
	r       *Runtime
	spec    runner.Spec
	image   *unpacked.Prepared
	id      string // id of the container, the task, the snapshot and the directory
	box     *sandbox.Sandbox
	files   *runfiles.Files
	volumes volumes.Set
	rootfs  []mount.Mount
	pid     uint32 // of the first process, as the daemon numbers them
	worker  bool   // it is a worker, which gets requests while it runs
	shared  bool   // it is a sharedContainer
	phase   phase
	holder  holder

	complete bool        // its program is an action that succeeded, and all that it has printed is in the files
	cutOff   atomic.Bool // a call about it was cut off: there may be a shim without a record
	left     ending.Leavings

	confidential string            // the directory of its files in memory; "" = they may be on a disk
	bind         map[string]string // files of this host that confideEnv shows it, by path in the container

	// For a container that may outlive this command.
	lock  *layout.ClientLock // of its own client; nil = the client is the Runtime
	key   string             // shared by all containers that can replace it
	kills int                // out-of-memory kills before it was taken
}

func (c *container) tasks() taskapi.TasksClient { return c.r.conn.Client.TaskService() }

// dir returns the directory of its files.
func (c *container) dir() string { return layout.RunDir(c.r.conn.Config.RuntimeDir, c.id) }

// create creates the container's record, its snapshot and its task.
func (c *container) create(ctx context.Context) error {
	if err := c.createRecord(ctx); err != nil {
		return err
	}
	return c.createTask(ctx)
}

func (c *container) createTask(ctx context.Context) error {
	req := &taskapi.CreateTaskRequest{ContainerID: c.id, Stdin: c.files.Stdin, Stdout: c.files.Stdout.Path, Stderr: c.files.Stderr.Path}
	for _, m := range c.rootfs {
		req.Rootfs = append(req.Rootfs, &types.Mount{Type: m.Type, Source: m.Source, Target: m.Target, Options: m.Options})
	}
	// The program has not begun, however this fails: it begins only when its start is requested.
	resp, err := c.tasks().Create(ctx, req)
	if err != nil {
		err = errgrpc.ToNative(err)
		c.noteCut(err)
		return failure.OfStart(c.spec, err)
	}
	c.pid = resp.Pid
	return sandbox.CheckGrants(c.pid, c.box.Grants)
}

// createRecord creates the container's record and its snapshot concurrently.
func (c *container) createRecord(ctx context.Context) error {
	ctx, err := c.r.conn.Leased(ctx)
	if err != nil {
		return failure.Of("Making a lease", err)
	}
	specAny, err := typeurl.MarshalAny(c.box.Spec)
	if err != nil {
		return err
	}
	opts, err := c.runtimeOptions()
	if err != nil {
		return err
	}
	conn := c.r.conn
	var group errgroup.Group
	group.Go(func() (err error) {
		c.rootfs, err = conn.Client.SnapshotService(conn.Snapshotter).Prepare(ctx, c.id, c.image.Chain, c.box.IDs.Labels()...)
		if errdefs.IsNotFound(err) {
			err = errImageGone
		}
		return err
	})
	group.Go(func() error {
		_, err := conn.Client.ContainerService().Create(ctx, containers.Container{
			ID:          c.id,
			Labels:      c.labels(),
			Image:       c.image.Digest.String(),
			Runtime:     containers.RuntimeInfo{Name: shim.Runtime, Options: opts},
			Spec:        specAny,
			Snapshotter: conn.Snapshotter,
			SnapshotKey: c.id,
		})
		return err
	})
	return failure.Of("Creating the container of "+c.spec.Name, group.Wait())
}

// labels returns the labels that declare whose container it is.
func (c *container) labels() map[string]string {
	owner := c.r.conn.ClientPath()
	if c.lock != nil {
		owner = c.lock.Path
	}
	labels := map[string]string{layout.LabelTool: "1", layout.LabelClient: owner, layout.LabelKind: string(c.spec.Kind),
		layout.LabelName: layout.LabelText(c.spec.Name)}
	if c.spec.ID != "" {
		labels[layout.LabelAction] = layout.ActionName(c.spec.ID)
	}
	switch {
	case c.worker:
		labels[layout.LabelWorker] = "1"
	case c.shared && c.spec.Kind == runner.Action:
		labels[layout.LabelWorker] = layout.Shared
	}
	return labels
}

// runtimeOptions returns the options for the shim: which runc to use, and who owns the
// program's standard files.
func (c *container) runtimeOptions() (typeurl.Any, error) {
	uid, gid := c.box.IDs.Owner(c.box.Spec.Process.User)
	o := &options.Options{BinaryName: c.r.conn.Runc, IoUid: uid, IoGid: gid}
	if c.r.conn.Embedded {
		o.Root = c.r.conn.Config.RuntimeDir + "/runc"
	}
	return typeurl.MarshalAny(o)
}

// closeFiles closes the files of a container, and removes them unless others need them.
func (c *container) closeFiles(err *error) {
	if c.holder == byIdlePool || c.holder == bySweep || c.holder == byBackground && c.complete {
		c.files.Close()
		return
	}
	if rerr := c.files.Remove(); *err == nil && rerr != nil {
		*err = rerr
	}
}

// cleanUp removes a container that this client holds. If only the removal of a query's
// container is left, or that of an action which succeeded and whose end is recorded, it runs in
// the background, so that nobody waits for it before the answer; the next sweep repeats it if it
// fails. An action's is gone when the Runtime is closed.
func (c *container) cleanUp(ctx context.Context, err *error) {
	switch {
	case c.holder == byBackground || c.holder == byIdlePool:
	case c.complete && c.holder == byClient && *err == nil:
		c.holder = byBackground
		c.r.runsOpen.Go(func() {
			if c.removeAll(ctx) == nil { // otherwise it is swept
				_ = layout.RemoveFiles(c.dir()) // last: they show how it ended, if this client is killed; if it fails, they are swept
			}
		})
	case c.spec.Kind == runner.Query && c.phase == taskDeleted && *err == nil && c.lock == nil:
		c.r.runsOpen.Go(func() { _ = c.removeAll(ctx) })
	default:
		if rerr := c.remove(ctx, *err); *err == nil && rerr != nil {
			*err = failure.Of("Removing the container of "+c.spec.Name, rerr)
		}
	}
}

// remove removes a container, however its program ended. Exception: an action that may
// still run, or whose outcome is not recorded, is left alone, with its files, for the
// client that adopts it or the sweep after this client.
func (c *container) remove(ctx context.Context, outcome error) error {
	if c.spec.Kind == runner.Action && supervise.IsUnknown(outcome) {
		c.holder = bySweep
	}
	if c.holder == bySweep {
		c.r.conn.MarkDirty()
		c.r.actions.Surrender(c.id)
		_ = c.files.GiveUp() // so that nobody waits for this client, which may live for months
		return nil
	}
	err := c.removeAll(ctx)
	if err != nil {
		c.holder = bySweep
	}
	return err
}

// removeAll removes the task, the record and the snapshot. The caller's context may be
// done already; removeAll has a time limit of its own.
func (c *container) removeAll(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			c.r.conn.MarkDirty()
		}
	}()
	ctx, cancel := c.r.conn.Detached(ctx, sweep.CleanupLimit)
	defer cancel()
	if ctx, err = c.r.conn.Leased(ctx); err != nil {
		return err
	}
	if c.phase == notStarted {
		c.kill(ctx, unix.SIGKILL) // otherwise the removal would wait ten seconds for a task that waits for its start
	}
	record := containers.Container{ID: c.id, Snapshotter: c.r.conn.Snapshotter, SnapshotKey: c.id}
	remove := sweep.RemoveContainer
	if c.phase == taskDeleted {
		remove = sweep.RemoveRecord
	}
	err = c.persist(ctx, func() error { return remove(ctx, c.r.conn.Client, record) })
	if err == nil && c.cutOff.Load() {
		err = c.r.sweeper().EndOrphan(c.id)
	}
	return err
}

// noteCut notes that a call was cut off.
func (c *container) noteCut(err error) {
	if err != nil && interrupted(err) {
		c.cutOff.Store(true)
	}
}

// removeLater removes the container of a query that has ended in the background, so that
// nobody waits for it. If the Runtime is closed before, the server removes it when it
// sweeps after this client.
func (c *container) removeLater(ctx context.Context) {
	c.holder = byBackground
	c.r.runsOpen.Go(func() { // called within a run, so that runsOpen is not zero
		select {
		case <-c.r.closing:
			c.r.conn.MarkDirty()
		case <-time.After(removeAfter):
			_ = c.removeAll(ctx) // if it fails, it is swept
		}
	})
}

// retryEvery is the pause before a call to a server that was lost is repeated.
const retryEvery = 100 * time.Millisecond

// persist calls do, and again if the server was lost in the meantime.
func (c *container) persist(ctx context.Context, do func() error) error {
	err := do()
	c.noteCut(err)
	for errdefs.IsUnavailable(err) && ctx.Err() == nil && c.r.conn.Revive(ctx) == nil {
		time.Sleep(retryEvery) // a server that is being killed may answer once more
		err = do()
	}
	return err
}

// lockItself gives a container that is not created yet a client lock of its own, so that
// it can change hands.
func (c *container) lockItself(ctx context.Context) (err error) {
	owner := layout.NewID()
	if c.lock, err = layout.NewClientLock(ctx, c.r.conn.Config.RuntimeDir, owner); err != nil {
		return err
	}
	c.id = owner + "-1"
	c.r.sandboxes.Name(c.box.Spec, c.id)
	return nil
}

// releaseLock releases the client lock that a container has of its own. If the container
// was handed over, the new holder has the lock too; if it is left behind, or the server
// was lost in between, the client counts as dead and is swept.
func (c *container) releaseLock() {
	switch {
	case c.lock == nil:
	case c.holder == byClient && !c.r.conn.Dirty.Load():
		_ = layout.RemoveFiles(filepath.Dir(c.dir()))
		_ = c.lock.Release() // if it fails, it is swept
	default:
		_ = c.lock.File.Close()
	}
}
