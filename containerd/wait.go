package containerd

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/containerd/daemon"
	"deployster/containerd/runfiles"
	"deployster/internal/base/diag"
)

// exit is how a program ended, or why nobody knows.
type exit struct {
	code int
	err  error
}

// wait tells the end of the program. That the daemon was lost, or the process
// that looks after the program, is never taken for an exit code.
func (c *container) wait(ctx context.Context) <-chan exit {
	end := make(chan exit, 1)
	go func() {
		var lost time.Time
		for {
			asked := time.Now()
			resp, err := c.tasks().Wait(ctx, &taskapi.WaitRequest{ContainerID: c.id})
			if err == nil {
				end <- c.proven(ctx, resp)
				return
			}
			err = errgrpc.ToNative(err)
			if !errdefs.IsUnavailable(err) || ctx.Err() != nil {
				end <- c.written(ctx, err, time.Second)
				return
			}
			if lost.IsZero() || time.Since(asked) > daemon.ReconnectLimit {
				// It was there until now, or again: this is another loss.
				lost = time.Now()
				if !c.r.conn.Embedded {
					c.r.lostOnce.Do(func() { c.r.warn(warnLost(c.spec.Name)) })
				}
			}
			if time.Since(lost) > daemon.ReconnectLimit || c.r.conn.Revive(ctx) != nil {
				end <- c.written(ctx, err, 0)
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

// proven is the end that a server tells of. A shim of ours has written it down
// before: what it has not, is not how the program ended.
func (c *container) proven(ctx context.Context, resp *taskapi.WaitResponse) exit {
	if c.r.conn.Embedded {
		return c.written(ctx, errors.New("the process that looked after it was lost"), runfiles.EndingLimit)
	}
	if resp.ExitedAt.AsTime().Unix() <= 0 {
		return exit{err: errors.New("the daemon does not know when it ended")}
	}
	return exit{code: int(resp.ExitStatus)}
}

// written is the end that was written down, or is within the limit; else err.
func (c *container) written(ctx context.Context, err error, limit time.Duration) exit {
	if c.files != nil {
		if e, ok := runfiles.AwaitEnding(ctx, c.files.Dir, limit); ok {
			return exit{code: e.Code}
		}
	}
	return exit{err: err}
}

// startGrace is how long a daemon that is back may take to start what it was
// asked to start before it was lost.
const startGrace = time.Second

// hasBegun reports whether a program has begun whose start was asked of a daemon that
// was then lost: it tells so itself, when it is back. A program that has begun
// is waited for like any other.
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
		"%s and whatever else runs goes on without it. Waiting %s for it to come back, as after an update.", name, daemon.ReconnectLimit)
}
