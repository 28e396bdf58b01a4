package containerd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/containerd/errdefs"

	"deployster/containerd/ending"
	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
	"deployster/containerd/sweep"
	"deployster/containerd/volumes"
	"deployster/internal/runtime/runner"
)

// Run implements runner.Runner.
func (r *Runtime) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	r.runsOpen.Add(1)
	defer r.runsOpen.Done()
	start := time.Now()
	if ctx.Err() != nil {
		return runner.Result{}, supervise.Cancelled(ctx, s)
	}
	if r.mayShare(s) {
		if res, done, err := r.runShared(ctx, s); done {
			res.Duration = time.Since(start)
			return res, err
		}
		if ctx.Err() != nil {
			return runner.Result{}, supervise.Cancelled(ctx, s)
		}
	}
	var res runner.Result
	var err error
	for range attempts {
		var begun bool
		if res, begun, err = r.attempt(ctx, s); begun || ctx.Err() != nil {
			break
		}
		// Nothing has run. Another process may have removed the image since it was
		// prepared, and the server may be restarting.
		if !errors.Is(err, errImageGone) && (!errdefs.IsUnavailable(err) || r.conn.Revive(ctx) != nil) {
			break
		}
	}
	res.Duration = time.Since(start)
	return res, err
}

// attempts is how often a run is tried if its program has not begun.
const attempts = 3

// attempt tries a run once, and reports whether the program may have begun.
func (r *Runtime) attempt(ctx context.Context, s runner.Spec) (res runner.Result, begun bool, err error) {
	c := &container{r: r, id: r.conn.NewContainerID()}
	c.volumes = volumes.New(r.volumes(), c.id, s)
	s.Mounts = slices.Concat(s.Mounts, c.volumes.Mounts())
	p, err := r.Images.PrepareFor(r.conn.Context(ctx), s)
	if err != nil {
		return res, false, r.orCancelled(ctx, s, failure.Of("Preparing the image "+s.Digest, err))
	}
	c.spec, c.image = s, p
	if err = c.volumes.Make(sandbox.VolumeOwner(p.Program, s.Settings)); err != nil {
		return res, false, err
	}
	defer c.removeVolumes(&err)
	if s, err = c.confide(p.Program, s); err == nil {
		c.spec = s
		c.box, err = r.sandboxes.Make(c.id, p.Program, s)
	}
	if err != nil {
		return res, false, errors.Join(err, layout.RemoveFiles(c.dir()))
	}
	defer c.box.Close()
	c.bindConfidential()
	if c.files, err = runfiles.New(r.conn.Config.RuntimeDir, c.id, s); err != nil {
		return res, false, err
	}
	if err = c.volumes.Note(c.files.Dir); err != nil {
		return res, false, errors.Join(layout.ErrRuntimeDir(r.conn.Config.RuntimeDir, err), c.files.Remove())
	}
	res, err = c.run(ctx, c, nil)
	if errors.Is(err, errImageGone) {
		r.Images.Forget(p.Digest)
	}
	return res, c.phase >= started, err
}

var errImageGone = errors.New("the image's files are gone")

// orCancelled returns the error of a cancellation for a failure that a cancellation caused.
func (r *Runtime) orCancelled(ctx context.Context, s runner.Spec, err error) error {
	if err != nil && ctx.Err() != nil {
		return supervise.Cancelled(ctx, s)
	}
	return err
}

// run creates the container, runs a program in it to its end, and removes the container
// in every case. Its files exist already.
func (c *container) run(ctx context.Context, p program, talk *process) (res runner.Result, err error) {
	defer c.closeFiles(&err)
	// The server may still carry out a call that is cut off, even after the cleanup. So
	// the setup is never cut off; it is short.
	setup, cancel := c.r.conn.Detached(ctx, setupLimit)
	defer cancel()
	defer c.cleanUp(ctx, &err)
	if err = c.createRecord(setup); err != nil {
		return res, err
	}
	if ctx.Err() != nil {
		return res, supervise.Cancelled(ctx, c.spec)
	}
	if err := c.createTask(setup); err != nil {
		return res, err
	}
	waiting, stopWaiting := context.WithCancel(c.r.conn.Context(context.WithoutCancel(ctx)))
	defer stopWaiting()
	ended := p.wait(waiting)
	if ctx.Err() != nil {
		return res, supervise.Cancelled(ctx, c.spec)
	}
	if c.spec.Settings.WholeMachine && !c.worker {
		c.left = ending.WatchLeavings(c.id, int(c.pid))
	}
	if err := p.start(setup); err != nil {
		return res, err
	}
	return c.attend(ctx, p, talk, ended)
}

// attend supervises a program that has begun, until its end.
func (c *container) attend(ctx context.Context, p program, talk *process, ended <-chan supervise.Exit) (res runner.Result, err error) {
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	s := &supervise.Supervisor{Program: p, Spec: c.spec, Files: c.files, Container: c.id, Kills: c.kills}
	if talk != nil {
		s.Worker = &supervise.Worker{Tail: talk.Tail, Offers: talk.offers, HandOver: talk.handOver}
	}
	res, err = s.Finish(ctx, ended, sandbox.WatchDisk(watching, c.rootfs, sandbox.DiskLimit(c.spec.Settings), c.volumes.Dirs()...))
	if err == supervise.ErrHandedOver {
		c.holder = byIdlePool
		return res, nil
	}
	if err == nil && !c.worker && sweep.NeverBegan(c.files.Dir, res.ExitCode) {
		return runner.Result{}, failure.OfStart(c.spec, sweep.ErrCutOff)
	}
	if err == nil {
		c.left.Note(c.spec, &res)
	}
	if c.spec.ListWrites && c.box != nil {
		res.Wrote = sandbox.Written(c.rootfs, c.box.Spec.Mounts)
	}
	if !supervise.IsUnknown(err) {
		err = c.handVolumes(&res, err)
	}
	return res, c.report(res, err)
}

// handVolumes hands what a program has left in its volumes to the receivers in the spec.
func (c *container) handVolumes(res *runner.Result, err error) error {
	if c.spec.Kind == runner.Action {
		return failure.Join(err, c.volumes.Keep(res))
	}
	if err != nil || res.ExitCode != 0 {
		return err
	}
	if err := c.volumes.Read(); err != nil {
		return err
	}
	return c.volumes.Take()
}

// removeVolumes removes the volumes, unless they are needed by whoever finds out how the program ended.
func (c *container) removeVolumes(err *error) {
	if c.holder == bySweep {
		return
	}
	if rerr := c.volumes.Remove(); *err == nil {
		*err = failure.Of("Removing the volumes of "+c.spec.Name, rerr)
	}
}

// report reports how the program ended to spec.Ended, which makes it durable, while the
// container still exists as proof. It reports nothing if the end is unknown.
func (c *container) report(res runner.Result, err error) error {
	if supervise.IsUnknown(err) {
		return err
	}
	if c.spec.Ended != nil {
		if failed := c.spec.Ended(res, err); failed != nil {
			if c.spec.Kind == runner.Action {
				c.holder = bySweep
			}
			return failed
		}
	}
	if c.worker {
		if failed := c.saveOutcomes(res); failed != nil {
			c.holder = bySweep
			return failure.Join(err, failed)
		}
	}
	return err
}

// saveOutcomes saves how the open actions of a worker ended that has ended itself: those
// whose end no client has recorded.
func (c *container) saveOutcomes(res runner.Result) error {
	open, err := runfiles.ReadLedger(c.files.Dir)
	if err != nil || len(open) == 0 {
		return err
	}
	ending := &runner.Outcome{Fate: runner.Exited, Ended: time.Now(), Result: runner.Result{ExitCode: res.ExitCode, OOM: res.OOM}}
	return c.r.sweeper().SaveOutcomes(c.files.Dir, open, ending)
}
