package containerd

import (
	"context"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"

	"deployster/internal/diag"
)

// exit is how a program ended, or why nobody knows.
type exit struct {
	code int
	err  error
}

// reconnectLimit is how long a daemon that was lost may take to come back, as
// it does when it is updated: the containers live on meanwhile.
const reconnectLimit = 10 * time.Second

// wait tells the end of the program. That the daemon was lost is never taken
// for an exit code.
func (u *run) wait(ctx context.Context) <-chan exit {
	c := make(chan exit, 1)
	go func() {
		var lost time.Time
		for {
			asked := time.Now()
			resp, err := u.tasks().Wait(ctx, &taskapi.WaitRequest{ContainerID: u.id})
			if err == nil {
				c <- exit{code: int(resp.ExitStatus)}
				return
			}
			err = errgrpc.ToNative(err)
			if lost.IsZero() || time.Since(asked) > reconnectLimit {
				// It was there until now, or again: this is another loss.
				lost = time.Now()
				if !u.r.embedded && errdefs.IsUnavailable(err) && ctx.Err() == nil {
					u.r.lostOnce.Do(func() { u.r.tell(warnLost(u.s.Name)) })
				}
			}
			// An embedded server that is gone does not come back by itself.
			if !errdefs.IsUnavailable(err) || u.r.embedded || time.Since(lost) > reconnectLimit || ctx.Err() != nil {
				c <- exit{err: err}
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

// startGrace is how long a daemon that is back may take to start what it was
// asked to start before it was lost.
const startGrace = time.Second

// began says whether a program has begun whose start was asked of a daemon that
// was then lost: it tells so itself, when it is back. A program that has begun
// is waited for like any other.
func (u *run) began(ctx context.Context) bool {
	if u.r.embedded {
		return false // what was asked of it went with it
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
