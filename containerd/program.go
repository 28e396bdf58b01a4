package containerd

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/daemon"
	"deployster/containerd/ending"
	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
	"deployster/containerd/supervise"
	"deployster/containerd/sweep"
	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
)

// program is a kind of run: the first process of a container of its own, a worker's first
// process, or a program that the agent of a shared container starts.
type program interface {
	// start requests the start of the program, which may run from then on, whatever the error is.
	start(ctx context.Context) error
	// wait returns a channel that gets its end.
	wait(ctx context.Context) <-chan supervise.Exit
	supervise.Program
}

// start requests the start of a container's first process.
func (c *container) start(ctx context.Context) error {
	if err := c.files.MarkBegun(); err != nil {
		return layout.ErrRuntimeDir(c.r.conn.Config.RuntimeDir, err)
	}
	c.phase = started
	if _, err := c.tasks().Start(ctx, &taskapi.StartRequest{ContainerID: c.id}); err != nil {
		err = errgrpc.ToNative(err)
		c.noteCut(err)
		switch {
		case c.refused(ctx, err):
			return failure.OfStart(c.spec, err)
		case !c.hasBegun(ctx):
			return supervise.UnknownEnd(c.id, err)
		}
	}
	return nil
}

// refused reports whether a start that failed was certainly not carried out: the task still
// waits for its start. The error alone is not proof. A daemon queries the shim once more when
// it has started the program, and answers "not found" if the shim ended in the meantime.
func (c *container) refused(ctx context.Context, err error) bool {
	if interrupted(err) {
		return false
	}
	resp, err := c.tasks().Get(ctx, &taskapi.GetRequest{ContainerID: c.id})
	return err == nil && resp.Process.Status == tasktypes.Status_CREATED
}

// interrupted reports whether a call was cut off, in which case it may still be carried
// out.
func interrupted(err error) bool {
	return errdefs.IsUnavailable(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// Signal implements program.
func (c *container) Signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{}) {
	if sig == unix.SIGTERM {
		return c.group().Terminate(ctx, c.pid, func() { c.kill(ctx, sig) })
	}
	c.kill(ctx, sig)
	return nil
}

// kill sends a signal: SIGTERM to the first process, SIGKILL to all. Its error is
// ignored: the program may just have ended by itself, which wait reports.
func (c *container) kill(ctx context.Context, sig unix.Signal) {
	ctx, cancel := c.r.conn.Detached(ctx, 10*time.Second)
	defer cancel()
	_, _ = c.tasks().Kill(ctx, &taskapi.KillRequest{ContainerID: c.id, Signal: uint32(sig), All: sig == unix.SIGKILL})
}

// Delete ends the shim: only then has it written the whole output of the program. If the
// output is known to be complete, the container of a query that ended well is removed later,
// and that of an action which succeeded when its end is recorded.
func (c *container) Delete(ctx context.Context, code int, well bool) error {
	if _, ok := shim.ReadEnding(c.files.Dir); !ok {
		// A failure loses the exit code only if this client is killed now.
		_ = shim.WriteEnding(c.files.Dir, shim.Ending{Code: code, At: time.Now()})
	}
	if well && c.mayOutliveItsEnd(code) && c.files.AwaitComplete(ctx) {
		if c.complete = c.spec.Kind == runner.Action; !c.complete {
			c.removeLater(ctx)
		}
		return nil
	}
	ctx, cancel := c.r.conn.Detached(ctx, sweep.CleanupLimit)
	defer cancel()
	err := c.persist(ctx, func() error {
		_, err := c.tasks().Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: c.id})
		return failure.UnlessGone(errgrpc.ToNative(err))
	})
	if err == nil {
		c.phase = taskDeleted
	}
	return failure.Of("Removing the task of "+c.spec.Name, err)
}

// mayOutliveItsEnd reports whether the container of a program that ended may be removed behind the back of whoever
// waits for the result. Not so where something of it may still run, or hold a secret; nor that of an action which will
// be repeated, which could be taken for its repetition.
func (c *container) mayOutliveItsEnd(code int) bool {
	return !c.worker && c.r.conn.Embedded && (c.spec.Kind == runner.Query ||
		code == 0 && c.confidential == "" && c.spec.Guard == "" && !c.spec.Settings.WholeMachine)
}

// group returns the processes of a container.
func (c *container) group() supervise.Group {
	return supervise.Group{Container: c.id, Others: c.others}
}

// others returns the living processes of a container except its first one and but.
func (c *container) others(ctx context.Context, but uint32) (pids []int) {
	if !sandbox.HasCgroups() { // where runc finds them
		return sandbox.Others(int(c.pid), int(but))
	}
	ctx, cancel := c.r.conn.Detached(ctx, 10*time.Second)
	defer cancel()
	resp, err := c.tasks().ListPids(ctx, &taskapi.ListPidsRequest{ContainerID: c.id})
	if err != nil {
		return nil
	}
	for _, p := range resp.Processes {
		if p.Pid != but && p.Pid != c.pid && !proc.Of(int(p.Pid)).Ended() {
			pids = append(pids, int(p.Pid))
		}
	}
	return pids
}

// open returns a pidfd of a process of a container.
func (c *container) open(pid int) (fd int, err error) { return sandbox.OpenProcess(c.id, pid) }

// wait implements program. The loss of the daemon, or of the shim, is never taken for an
// exit code.
func (c *container) wait(ctx context.Context) <-chan supervise.Exit {
	end := make(chan supervise.Exit, 1)
	found := func(code int, err error) { end <- supervise.Exit{Code: code, Err: err} }
	finder := ending.Finder{ID: c.id, Files: c.files, Embedded: c.r.conn.Embedded, Whole: c.spec.Settings.WholeMachine,
		Limit: supervise.KillLimit}
	go func() {
		var lost time.Time
		for {
			asked := time.Now()
			resp, err := c.tasks().Wait(ctx, &taskapi.WaitRequest{ContainerID: c.id})
			if err == nil {
				found(finder.Proven(ctx, resp))
				return
			}
			err = errgrpc.ToNative(err)
			if !errdefs.IsUnavailable(err) || ctx.Err() != nil {
				found(finder.Lost(ctx, err, time.Second))
				return
			}
			if lost.IsZero() || time.Since(asked) > daemon.ReconnectLimit {
				// The daemon was reachable until now, or again: this is another loss.
				lost = time.Now()
				if !c.r.conn.Embedded {
					c.r.lostOnce.Do(func() { c.r.warn(warnLost(c.spec.Name)) })
				}
			}
			if time.Since(lost) > daemon.ReconnectLimit || c.r.conn.Revive(ctx) != nil {
				found(finder.Lost(ctx, err, 0))
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return end
}

// startGrace is how long a daemon that is reachable again may take to start a program
// whose start was requested before.
const startGrace = time.Second

// hasBegun reports whether a program has begun whose start was requested from a daemon
// that was then lost: the daemon reports it when it is reachable again. The caller waits
// for a program that has begun as for any other.
func (c *container) hasBegun(ctx context.Context) bool {
	if c.r.conn.Revive(ctx) != nil {
		return false
	}
	end := time.Now().Add(daemon.ReconnectLimit)
	for back := false; time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		resp, err := c.tasks().Get(ctx, &taskapi.GetRequest{ContainerID: c.id})
		switch err = errgrpc.ToNative(err); {
		case err == nil && resp.Process.Status != tasktypes.Status_CREATED && resp.Process.Status != tasktypes.Status_UNKNOWN:
			return true
		case err != nil && !errdefs.IsUnavailable(err):
			return false
		case err == nil && !back:
			back, end = true, time.Now().Add(startGrace)
		}
	}
	return false
}

func warnLost(name string) *diag.Diagnostic {
	return diag.Warningf("The containerd daemon was lost",
		"%s and all other programs continue without it. Waiting %s until it is back, as after an update.", name, daemon.ReconnectLimit)
}
