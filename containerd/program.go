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
	wait(ctx context.Context) <-chan exit
	// signal signals it to end with SIGTERM, or ends it and everything that it has started with
	// SIGKILL. A channel alone that is not nil is closed when the program can be killed.
	signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{})
	// delete makes sure that its whole output is in its files. It is called when the
	// program has ended; well reports that it ended by itself.
	delete(ctx context.Context, code int, well bool) error
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
			return unknownEnd(c.id, err)
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

// unknownEnd returns the error that reports that it is unknown how or whether the program
// ended. It keeps the cause as text only, so that the caller does not take a call that
// was cut off for a cancellation.
func unknownEnd(id string, err error) error {
	return &runner.UnknownError{Container: id, Err: errors.New(err.Error())}
}

// signal implements program.
func (c *container) signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{}) {
	if sig == unix.SIGTERM {
		return terminate(ctx, c, c.pid, func() { c.kill(ctx, sig) })
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

// delete ends the shim: only then has it written the whole output of the program. If the
// output is known to be complete, the container of a query that ended well is removed later.
func (c *container) delete(ctx context.Context, code int, well bool) error {
	if _, ok := shim.ReadEnding(c.files.Dir); !ok {
		// A failure loses the exit code only if this client is killed now.
		_ = shim.WriteEnding(c.files.Dir, shim.Ending{Code: code, At: time.Now()})
	}
	if well && c.spec.Kind == runner.Query && !c.worker && c.r.conn.Embedded && c.files.AwaitComplete(ctx) {
		c.removeLater(ctx)
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

const othersEvery = 20 * time.Millisecond // interval at which terminate checks whether the other processes have ended

// terminate signals a program in a container to end. The kernel does not deliver SIGTERM to
// the first process of a container unless that handles it, and a plain shell does not
// handle it: it would just continue until it is killed. So terminate ends such a program as
// SIGTERM ends any other. It stops the program first, so that a script does not continue
// with its next line; the other processes, which may have to clean up, get SIGTERM and
// the grace time; alone is closed when they have ended, and the rest can be killed. For a
// program that handles SIGTERM, or ignores it on purpose, alone is nil: it gets SIGTERM,
// as from docker, and its children are its own responsibility.
func terminate(ctx context.Context, c *container, program uint32, ask func()) (alone <-chan struct{}) {
	first, err := c.open(int(program))
	if err != nil || sandbox.HandlesSignal(int(program), unix.SIGTERM) {
		ask()
		return nil
	}
	defer unix.Close(first)
	if unix.PidfdSendSignal(first, unix.SIGSTOP, nil, 0) != nil {
		return nil // it has just ended
	}
	for _, pid := range c.others(ctx, program) {
		if fd, err := c.open(pid); err == nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0) // it may have ended
			_ = unix.Close(fd)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = layout.Poll(ctx, othersEvery, func() (bool, error) { return len(c.others(ctx, program)) == 0, nil }) // or ctx is done
	}()
	return gone
}

// exit is how a program ended, or why that is unknown.
type exit struct {
	code int
	err  error
}

// wait implements program. The loss of the daemon, or of the shim, is never taken for an
// exit code.
func (c *container) wait(ctx context.Context) <-chan exit {
	end := make(chan exit, 1)
	found := func(code int, err error) { end <- exit{code, err} }
	finder := ending.Finder{ID: c.id, Files: c.files, Embedded: c.r.conn.Embedded, Whole: c.spec.Settings.WholeMachine, Limit: killLimit}
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
