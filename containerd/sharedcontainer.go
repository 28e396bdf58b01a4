package containerd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/containerd/agentconn"
	"deployster/containerd/failure"
	"deployster/containerd/lending"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
	"deployster/containerd/sweep"
	"deployster/containerd/unpacked"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// sharedContainer is a running container in which queries run, and actions if their type allows it, one at a
// time: so each has its full limits, and killing one kills the container.
type sharedContainer struct {
	container *container
	shows     string           // fingerprint of what its mounts show; see Fingerprint
	ledger    *runfiles.Ledger // of the actions that were requested here; nil = no action may run here
	asked     int64            // the number of the last of them
	served    int
	killed    atomic.Bool     // by this client
	tainted   bool            // it must not be kept, since it may know private texts
	agent     *agentconn.Conn // starts the programs; nil = the agent has not begun
}

// end removes the container with everything that runs in it. It leaves alone one with an action that may still
// run, or whose end is not recorded, for the client that adopts the action or the sweep after this client.
func (w *sharedContainer) end() error {
	ctx, cancel := w.container.r.conn.Detached(context.Background(), sweep.CleanupLimit)
	defer cancel()
	defer w.container.releaseLock()
	if w.ledger != nil {
		defer w.ledger.Close()
	}
	if w.agent != nil && !runfiles.IsSettled(w.container.dir()) {
		w.container.holder = bySweep
		err := w.container.remove(ctx, nil)
		w.container.files.Close()
		return errors.Join(err, w.agent.Close())
	}
	w.killAll()
	var err error
	if w.agent != nil {
		// containerd learns of its end a moment later; a request before that would start
		// runc for nothing.
		waiting, stop := context.WithTimeout(ctx, supervise.KillLimit)
		defer stop()
		_, _ = w.container.tasks().Wait(waiting, &taskapi.WaitRequest{ContainerID: w.container.id}) // an error shows in the removal
		err = w.agent.Close()
	}
	return errors.Join(err, w.container.remove(ctx, nil), w.container.files.Remove())
}

// killAll ends everything that runs in the container. Its end shows whether that succeeded.
func (w *sharedContainer) killAll() {
	w.killed.Store(true)
	if w.agent != nil { // nil: the agent has not begun
		w.agent.Kill()
	}
}

// exec runs a query in the container. done is false if the failure may be the fault of
// the container and not of the program: then the query must run again in a container of
// its own.
func (w *sharedContainer) exec(ctx context.Context, s runner.Spec) (res runner.Result, done bool, err error) {
	argv, err := s.Command(w.container.image.Config.Entrypoint, w.container.image.Config.Cmd)
	if err != nil {
		return res, false, err
	}
	files, err := runfiles.InMemory(s)
	if err != nil {
		return res, false, err
	}
	defer files.Close()
	kills := sandbox.OOMKills(w.container.id)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	w.tainted = w.tainted || w.container.r.isPrivate(argv...) || w.container.r.isPrivate(string(s.Stdin)) // even if no program begins
	p := &queryProgram{agentProgram: agentProgram{w: w, argv: argv}, input: s.Stdin, files: files}
	defer p.close()
	if err := p.start(ctx); err != nil {
		return res, false, err
	}
	u := &supervise.Supervisor{Program: p, Spec: s, Files: files, Container: w.container.id, Kills: kills}
	res, err = u.Finish(ctx, p.wait(ctx), sandbox.WatchDisk(watching, w.container.rootfs, sandbox.DiskLimit(s.Settings)))
	if w.doubtful(res, err) && ctx.Err() == nil {
		return res, false, err
	}
	w.served++
	w.tainted = w.tainted || w.container.r.isPrivate(string(res.Stdout), string(res.Stderr))
	if s.Ended != nil && !supervise.IsUnknown(err) {
		if failed := s.Ended(res, err); failed != nil {
			err = failed
		}
	}
	return res, true, err
}

// doubtful reports whether a fresh container might have given another result.
func (w *sharedContainer) doubtful(res runner.Result, err error) bool {
	if supervise.IsUnknown(err) || !w.killed.Load() && !w.waits() {
		return true
	}
	// What earlier queries have left in the container counts too.
	return w.served > 0 && (res.OOM || diag.Is[*runner.DiskError](err))
}

// killLeftovers makes sure that no process of a query continues after its end, as none
// would in a container of its own.
func (w *sharedContainer) killLeftovers() {
	const looks = 10
	for range looks {
		if procs, err := sandbox.Processes(w.container.id, int(w.container.pid)); err == nil && len(procs) <= 1 || w.killed.Load() {
			return
		}
		time.Sleep(2 * time.Millisecond) // mostly the process is just ending
	}
	w.killAll()
}

// waits reports whether the container's first process is alive.
func (w *sharedContainer) waits() bool {
	procs, err := sandbox.Processes(w.container.id, int(w.container.pid))
	return err == nil && len(procs) > 0 && procs[0] == int(w.container.pid)
}

// newShared creates and starts a container for queries like s, or takes one that an
// earlier command has left. Its first process, the agent, starts the programs.
func (r *Runtime) newShared(ctx context.Context, s runner.Spec, image *unpacked.Prepared, keptOnly bool) (w *sharedContainer, kept bool,
	err error) {
	file, err := r.agentFile(r.shared.agent)
	if err != nil {
		return nil, false, err
	}
	spec := runner.Spec{Name: "shared by runs of " + s.Digest, Kind: runner.Query, Reference: s.Reference, ReuseActions: s.ReuseActions,
		Digest: s.Digest, Entrypoint: agentPath, Args: []string{agentSocket}, Mounts: s.Mounts, Settings: s.Settings}
	if s.ReuseActions {
		spec.Kind = runner.Action
	}
	w = &sharedContainer{container: &container{r: r, spec: spec, image: image, id: r.conn.NewContainerID(), shared: true}}
	if w.container.box, err = r.sandboxes.Make(w.container.id, image.Program, spec); err != nil {
		return nil, false, err
	}
	defer w.container.box.Close()
	w.shows = r.sandboxes.Fingerprint(w.container.box.Grants)
	pooled := r.poolsShared(s)
	if pooled {
		if idle := w.takeIdle(); idle != nil {
			return idle, true, nil
		}
	}
	if keptOnly {
		return nil, false, lending.ErrNone
	}
	if pooled {
		if err := w.container.lockItself(ctx); err != nil {
			return nil, false, err
		}
	}
	if w.container.files, err = runfiles.New(r.conn.Config.RuntimeDir, w.container.id, runner.Spec{}); err != nil {
		w.container.releaseLock()
		return nil, false, err
	}
	if spec.Kind == runner.Action {
		w.ledger, err = runfiles.OpenLedger(w.container.files.Dir)
	}
	if err == nil {
		err = w.begin(ctx, file)
	}
	if err != nil {
		return nil, false, errors.Join(err, w.end())
	}
	return w, false, nil
}

// begin creates the container with its agent, a file of this host, and starts it. If it
// fails, a part of the container may exist.
func (w *sharedContainer) begin(ctx context.Context, file string) (err error) {
	setup, cancel := w.container.r.conn.Detached(ctx, setupLimit)
	defer cancel()
	l, path, err := agentconn.Listen(w.container.files.Dir)
	if err != nil {
		return err
	}
	defer func() { err = failure.Join(err, l.Close()) }()
	spec := w.container.box.Spec
	spec.Mounts = append(spec.Mounts, w.container.r.sandboxes.Bind(file, agentPath, false),
		w.container.r.sandboxes.Bind(path, agentSocket, false))
	sandbox.Widen(spec, agentThreads, agentMemory)
	if err := w.container.create(setup); err != nil {
		return err
	}
	if err := w.container.files.MarkBegun(); err != nil { // else whoever finds it takes it for one that never ran
		return err
	}
	if _, err := w.container.tasks().Start(setup, &taskapi.StartRequest{ContainerID: w.container.id}); err != nil {
		return errgrpc.ToNative(err)
	}
	process, err := w.container.open(int(w.container.pid))
	if err != nil {
		return err
	}
	if w.agent, err = agentconn.Accept(l, process, int(w.container.pid), setupLimit, w.waits); err != nil {
		return err
	}
	if procs, err := sandbox.Processes(w.container.id, int(w.container.pid)); err != nil || len(procs) != 1 {
		return fmt.Errorf("the processes of a container cannot be seen from here: %d (%w)", len(procs), err)
	}
	return nil
}
