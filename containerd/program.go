package containerd

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
	"deployster/containerd/sweep"
	"deployster/internal/runner"
)

// program is a kind of run: the first process of a container of its own, a worker's,
// or one that the agent of a shared container starts.
type program interface {
	// start asks for its begin, after which it may run whatever the error is.
	start(ctx context.Context) error
	// wait tells how it ends.
	wait(ctx context.Context) <-chan exit
	// signal asks it to end with SIGTERM, and ends it and all that it has started
	// with SIGKILL. What can be killed when alone is closed is not nil then.
	signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{})
	// delete makes sure that all that it has printed is in its files. It is asked to
	// when it has ended, well when it did so by itself.
	delete(ctx context.Context, code int, well bool) error
}

// start asks for the begin of a container's first process.
func (c *container) start(ctx context.Context) error {
	if err := c.files.MarkBegun(); err != nil {
		return layout.ErrRuntimeDir(c.r.conn.Config.RuntimeDir, err)
	}
	c.phase = started
	if _, err := c.tasks().Start(ctx, &taskapi.StartRequest{ContainerID: c.id}); err != nil {
		switch err = errgrpc.ToNative(err); {
		case !interrupted(err):
			return startFailure(c.spec, err)
		case !c.hasBegun(ctx):
			return unknownEnd(c.id, err)
		}
	}
	return nil
}

// interrupted reports whether a call was cut off, and may be carried out all the
// same.
func interrupted(err error) bool {
	return errdefs.IsUnavailable(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// unknownEnd says that nobody knows how the program ended, or whether. The cause
// is kept as text only: a call that was cut off there is not to be taken for a
// cancellation by the caller.
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

// kill sends a signal: SIGTERM to the first process, SIGKILL to all. It may have ended
// by itself just before, which its end will tell.
func (c *container) kill(ctx context.Context, sig unix.Signal) {
	ctx, cancel := c.r.conn.Detached(ctx, 10*time.Second)
	defer cancel()
	_, _ = c.tasks().Kill(ctx, &taskapi.KillRequest{ContainerID: c.id, Signal: uint32(sig), All: sig == unix.SIGKILL})
}

// delete ends the shim: only then has it written all that the program printed. Where
// that is known already, that of a query that ended well is removed later.
func (c *container) delete(ctx context.Context, code int, well bool) error {
	if _, ok := shim.ReadEnding(c.files.Dir); !ok {
		// A failure costs the exit code only when this client dies now.
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

// others returns the living processes of a container beside its first and another.
func (c *container) others(ctx context.Context, but uint32) (pids []int) {
	ctx, cancel := c.r.conn.Detached(ctx, 10*time.Second)
	defer cancel()
	resp, err := c.tasks().ListPids(ctx, &taskapi.ListPidsRequest{ContainerID: c.id})
	if err != nil {
		return nil
	}
	for _, p := range resp.Processes {
		if p.Pid != but && p.Pid != c.pid && layout.ProcessState(int(p.Pid)) != 'Z' {
			pids = append(pids, int(p.Pid))
		}
	}
	return pids
}

// open returns a handle on a process of a container.
func (c *container) open(pid int) (fd int, err error) { return sandbox.OpenProcess(c.id, pid) }

const othersEvery = 20 * time.Millisecond // between looks whether the other processes have ended

// terminate asks a program in a container to end. The kernel keeps SIGTERM from the first
// process of a container unless that handles it, and a plain shell does not:
// such a one would just go on until it is killed. So it gets what any other
// program gets: its end. It is stopped first, so that a script does not go on
// with its next line, and the others, who may have something to put in order,
// get SIGTERM and the grace time; alone is closed when they are gone, and what
// is left can be killed. For a program that handles SIGTERM, or ignores it on
// purpose, alone is nil: it is asked, as docker does, and its children are its
// own affair.
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
		for len(c.others(ctx, program)) > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(othersEvery):
			}
		}
	}()
	return gone
}
