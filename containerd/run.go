package containerd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

	"deployster/containerd/shim"
	"deployster/internal/runner"
)

const (
	setupLimit   = time.Minute      // for making and starting a container
	cleanupLimit = time.Minute      // for removing it
	killLimit    = 30 * time.Second // between SIGKILL and the end
)

// The labels on what belongs to a run. Those of the image are never taken
// over: containerd acts on some labels (CVE-2026-53488).
const (
	labelTool   = "deployster"        // the version of this layout
	labelClient = "deployster.client" // the path of the client's file
	labelKind   = "deployster.kind"   // runner.Kind
	labelName   = "deployster.name"   // for people
	labelAction = "deployster.action" // actionName of an runner.Spec's ID

	labelCarrier = "deployster.carrier" // it is spoken to, and what it is asked for is in its ledger
)

// actionName makes a name of limited length from the ID of an action.
func actionName(id string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(id))) }

// Run implements runner.Runner.
func (r *Runtime) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	r.runsOpen.Add(1)
	defer r.runsOpen.Done()
	start := time.Now()
	if ctx.Err() != nil {
		return runner.Result{}, cancelled(ctx, s)
	}
	if r.mayShare(s) {
		if res, done, err := r.runShared(ctx, s); done {
			res.Duration = time.Since(start)
			return res, err
		}
		if ctx.Err() != nil {
			return runner.Result{}, cancelled(ctx, s)
		}
	}
	var res runner.Result
	var err error
	for range attempts {
		var begun bool
		if res, begun, err = r.attempt(ctx, s); begun || ctx.Err() != nil {
			break
		}
		// Nothing has run. The image may have been removed by another since it
		// was prepared, and the server may be coming back.
		if !errors.Is(err, errImageGone) && (!errdefs.IsUnavailable(err) || r.revive(ctx) != nil) {
			break
		}
	}
	res.Duration = time.Since(start)
	return res, err
}

// attempts is how often a run is tried of which nothing has begun.
const attempts = 3

// attempt is one try of a run, and reports whether the program may have begun.
func (r *Runtime) attempt(ctx context.Context, s runner.Spec) (res runner.Result, begun bool, err error) {
	p, err := r.prepareFor(r.ctx(ctx), s)
	if err != nil {
		return res, false, r.orCancelled(ctx, s, r.failure("Preparing the image "+s.Digest, err))
	}
	run := &run{r: r, s: s, image: p, id: r.newContainerID()}
	res, err = run.run(ctx)
	if errors.Is(err, errImageGone) {
		r.forgetImage(p.digest)
	}
	return res, run.begun, err
}

var errImageGone = errors.New("the image's files are gone")

func cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// orCancelled tells a failure that comes of a cancellation as that.
func (r *Runtime) orCancelled(ctx context.Context, s runner.Spec, err error) error {
	if err != nil && ctx.Err() != nil {
		return cancelled(ctx, s)
	}
	return err
}

func (r *Runtime) newContainerID() string {
	return fmt.Sprintf("%s-%d", r.id, r.runs.Add(1))
}

// run is one invocation.
type run struct {
	r     *Runtime
	s     runner.Spec
	image *prepared
	id    string // of the container, the task, the snapshot and the directory
	io    *stdio
	box   *sandbox
	pid   uint32 // of the first process, as the daemon numbers them
	begun bool   // its start was asked for
	gone  bool   // the task is deleted already
	kept  bool   // everything stays, because it may still run, or nobody has taken down how it ended
	left  bool   // something could not be removed
	away  bool   // the server removes it

	talk *process // who speaks to it while it runs; nil = nobody

	// Of one that may outlive this command; see keep.go.
	owner  *presence // the client that has the container; nil = that of the Runtime
	key    string    // of all that could take its place
	handed bool      // it is another's

	// Of a query in a container that is shared; see warm.
	warm   *warm         // the container
	kills  int           // of processes for want of memory, before it
	rootfs []mount.Mount // of the container itself
	forked *forked       // its agent has started it; nil = runc has
}

func (u *run) tasks() taskapi.TasksClient { return u.r.client.TaskService() }

// run makes the container, waits for its end and removes it, in every case.
func (u *run) run(ctx context.Context) (res runner.Result, err error) {
	if u.box == nil {
		if u.box, err = u.r.sandbox(u.id, u.image, u.s); err != nil {
			return res, err
		}
	}
	defer u.box.close()
	return u.inside(ctx)
}

// inside carries out the invocation in its sandbox.
func (u *run) inside(ctx context.Context) (res runner.Result, err error) {
	if u.talk != nil {
		u.io, err = u.r.newTalk(u.id, u.s, u.talk)
	} else {
		u.io, err = u.r.newStdio(u.id, u.s)
	}
	if err != nil {
		return res, err
	}
	defer u.closeFiles(&err)
	// A call that is cut off may still be carried out by the server, behind
	// the back of the cleanup. So setting up is never cut off; it is short.
	setup, cancel := u.r.detached(ctx, setupLimit)
	defer cancel()
	u.rootfs, err = u.create(setup)
	defer u.cleanUp(ctx, &err)
	if err != nil {
		return res, err
	}
	if ctx.Err() != nil {
		return res, cancelled(ctx, u.s)
	}
	if err := u.createTask(setup, u.rootfs); err != nil {
		return res, err
	}
	waiting, stopWaiting := context.WithCancel(u.r.ctx(context.WithoutCancel(ctx)))
	defer stopWaiting()
	exit := u.wait(waiting)
	if ctx.Err() != nil {
		return res, cancelled(ctx, u.s)
	}
	if err := u.io.begin(); err != nil {
		return res, errRuntimeDir(u.r.runtimeDir, err)
	}
	u.begun = true
	if _, err := u.tasks().Start(setup, &taskapi.StartRequest{ContainerID: u.id}); err != nil {
		switch err = errgrpc.ToNative(err); {
		case !interrupted(err):
			return res, u.startFailure(err)
		case !u.began(setup):
			return res, u.unknown(err)
		}
	}
	if u.talk != nil {
		u.talk.begin(setup, u)
	}
	return u.attend(ctx, exit)
}

// create makes the container's record and its snapshot, at the same time.
func (u *run) create(ctx context.Context) (rootfs []mount.Mount, err error) {
	ctx, err = u.r.leased(ctx)
	if err != nil {
		return nil, u.r.failure("Making a lease", err)
	}
	specAny, err := typeurl.MarshalAny(u.box.spec)
	if err != nil {
		return nil, err
	}
	opts, err := u.runtimeOptions()
	if err != nil {
		return nil, err
	}
	var group errgroup.Group
	group.Go(func() (err error) {
		rootfs, err = u.r.client.SnapshotService(u.r.snapshotter).Prepare(ctx, u.id, u.image.chain, u.box.ids.labels()...)
		if errdefs.IsNotFound(err) {
			err = errImageGone
		}
		return err
	})
	group.Go(func() error {
		_, err := u.r.client.ContainerService().Create(ctx, containers.Container{
			ID:          u.id,
			Labels:      u.labels(),
			Image:       u.image.digest.String(),
			Runtime:     containers.RuntimeInfo{Name: shim.Runtime, Options: opts},
			Spec:        specAny,
			Snapshotter: u.r.snapshotter,
			SnapshotKey: u.id,
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, u.r.failure("Making the container of "+u.s.Name, err)
	}
	return rootfs, nil
}

// labels say whose the container is.
func (u *run) labels() map[string]string {
	owner := u.r.clientPath()
	if u.owner != nil {
		owner = u.owner.path
	}
	labels := map[string]string{labelTool: "1", labelClient: owner, labelKind: string(u.s.Kind), labelName: label(u.s.Name)}
	if u.s.ID != "" {
		labels[labelAction] = actionName(u.s.ID)
	}
	if u.talk != nil {
		labels[labelCarrier] = "1"
	}
	return labels
}

// runtimeOptions tell the shim which runc to use, and who owns the program's
// standard files.
func (u *run) runtimeOptions() (typeurl.Any, error) {
	uid, gid := u.box.ids.owner(u.box.spec.Process.User)
	o := &options.Options{BinaryName: u.r.runc, IoUid: uid, IoGid: gid}
	if u.r.embedded {
		o.Root = u.r.runtimeDir + "/runc"
	}
	return typeurl.MarshalAny(o)
}

func (u *run) createTask(ctx context.Context, rootfs []mount.Mount) error {
	req := &taskapi.CreateTaskRequest{
		ContainerID: u.id,
		Stdin:       u.io.stdin,
		Stdout:      u.io.stdout.path,
		Stderr:      u.io.stderr.path,
	}
	for _, m := range rootfs {
		req.Rootfs = append(req.Rootfs, &types.Mount{Type: m.Type, Source: m.Source, Target: m.Target, Options: m.Options})
	}
	// However this fails: the program begins only when its start is asked for.
	resp, err := u.tasks().Create(ctx, req)
	if err != nil {
		return u.startFailure(errgrpc.ToNative(err))
	}
	u.pid = resp.Pid
	return checkGrants(u.pid, u.box.grants)
}

// clear is remove, behind the back of whoever waits for the answer when that is
// all that is still missing: what goes wrong then is left to the next sweep.
func (u *run) clear(ctx context.Context, outcome error) error {
	if u.s.Kind == runner.Query && u.gone && outcome == nil {
		u.r.runsOpen.Add(1) // this is called within a run, so that it is not zero
		go func() {
			defer u.r.runsOpen.Done()
			_ = u.remove(ctx, nil)
		}()
		return nil
	}
	if err := u.remove(ctx, outcome); outcome == nil && err != nil {
		return u.r.failure("Removing the container of "+u.s.Name, err)
	}
	return outcome
}

// remove takes everything of a run away, whatever became of it. The caller's
// context may be over; this has its own time. Only an action of which nobody
// knows whether it still runs, or of which nobody has taken down how it ended,
// is left alone, with its files, for whoever adopts it or sweeps after this
// client.
func (u *run) remove(ctx context.Context, outcome error) (err error) {
	var unknown *runner.UnknownError
	if u.s.Kind == runner.Action && errors.As(outcome, &unknown) {
		u.kept = true // not written in vain: see clear
	}
	if u.kept {
		u.r.left.Store(true)
		u.r.surrendered.Store(u.id, true)
		return nil
	}
	defer func() {
		if err != nil {
			u.left = true
			u.r.left.Store(true)
		}
	}()
	ctx, cancel := u.r.detached(ctx, cleanupLimit)
	defer cancel()
	if ctx, err = u.r.leased(ctx); err != nil {
		return err
	}
	record := containers.Container{ID: u.id, Snapshotter: u.r.snapshotter, SnapshotKey: u.id}
	remove := removeContainer
	if u.gone {
		remove = removeRecord
	}
	err = remove(ctx, u.r.client, record)
	for errdefs.IsUnavailable(err) && ctx.Err() == nil && u.r.revive(ctx) == nil {
		time.Sleep(adoptEvery)
		err = remove(ctx, u.r.client, record)
	}
	return err
}
