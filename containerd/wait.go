package containerd

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/internal/base/diag"
)

// exit is how a program ended, or why nobody knows.
type exit struct {
	code int
	err  error
}

// wait tells the end of the program. That the daemon was lost, or the process
// that looks after the program, is never taken for an exit code.
func (u *run) wait(ctx context.Context) <-chan exit {
	c := make(chan exit, 1)
	go func() {
		var lost time.Time
		for {
			asked := time.Now()
			resp, err := u.tasks().Wait(ctx, &taskapi.WaitRequest{ContainerID: u.id})
			if err == nil {
				c <- u.proven(ctx, resp)
				return
			}
			err = errgrpc.ToNative(err)
			if !errdefs.IsUnavailable(err) || ctx.Err() != nil {
				c <- u.written(ctx, err, time.Second)
				return
			}
			if lost.IsZero() || time.Since(asked) > reconnectLimit {
				// It was there until now, or again: this is another loss.
				lost = time.Now()
				if !u.r.embedded {
					u.r.lostOnce.Do(func() { u.r.tell(warnLost(u.s.Name)) })
				}
			}
			if time.Since(lost) > reconnectLimit || u.r.revive(ctx) != nil {
				c <- u.written(ctx, err, 0)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return c
}

// proven is the end that a server tells of. A shim of ours has written it down
// before: what it has not, is not how the program ended.
func (u *run) proven(ctx context.Context, resp *taskapi.WaitResponse) exit {
	if u.r.embedded {
		return u.written(ctx, errors.New("the process that looked after it was lost"), endingSlow)
	}
	if resp.ExitedAt.AsTime().Unix() <= 0 {
		return exit{err: errors.New("the daemon does not know when it ended")}
	}
	return exit{code: int(resp.ExitStatus)}
}

// written is the end that was written down, or is within the limit; else err.
func (u *run) written(ctx context.Context, err error, limit time.Duration) exit {
	if u.io != nil {
		if e, ok := awaitEnding(ctx, u.io.dir, limit); ok {
			return exit{code: e.Code}
		}
	}
	return exit{err: err}
}

// startGrace is how long a daemon that is back may take to start what it was
// asked to start before it was lost.
const startGrace = time.Second

// began reports whether a program has begun whose start was asked of a daemon that
// was then lost: it tells so itself, when it is back. A program that has begun
// is waited for like any other.
func (u *run) began(ctx context.Context) bool {
	if u.r.revive(ctx) != nil {
		return false
	}
	end := time.Now().Add(reconnectLimit)
	for back := false; time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		resp, err := u.tasks().Get(ctx, &taskapi.GetRequest{ContainerID: u.id})
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

// tell gives a warning to whoever wants it.
func (r *Runtime) tell(d *diag.Diagnostic) {
	if r.warn != nil {
		r.warn(d)
	}
}
