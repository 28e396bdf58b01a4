package ending

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs"

	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
)

// Finder finds out how the first process of a container ended.
type Finder struct {
	ID       string          // of the container
	Files    *runfiles.Files // nil = none
	Embedded bool            // its shim is deployster's
	Whole    bool            // it has the whole machine
	Limit    time.Duration   // for the end of what it has left
}

// Proven returns the end that a server reports. A shim of deployster has recorded the end
// before: an end that it has not recorded is not how the program ended.
func (f Finder) Proven(ctx context.Context, resp *taskapi.WaitResponse) (code int, err error) {
	if f.Embedded {
		return f.endOf(ctx, f.written(ctx, errors.New("its supervisor was lost"), runfiles.EndingLimit))
	}
	if resp.ExitedAt.AsTime().Unix() <= 0 {
		return f.endOf(ctx, end{err: errors.New("the daemon does not know when it ended")})
	}
	return f.endOf(ctx, end{code: int(resp.ExitStatus)})
}

// Lost returns the end that the shim has recorded, or records within the limit; otherwise err, for
// which the end cannot be awaited. The first process is gone if the end is recorded, or if its task
// does not exist any more.
func (f Finder) Lost(ctx context.Context, err error, limit time.Duration) (code int, _ error) {
	e := f.written(ctx, err, limit)
	if e.err == nil || errdefs.IsNotFound(err) {
		return f.endOf(ctx, e)
	}
	return 0, e.err
}

type end struct {
	code int
	err  error
}

// written returns the end that the shim has recorded, or records within the limit; otherwise err.
func (f Finder) written(ctx context.Context, err error, limit time.Duration) end {
	if f.Files != nil {
		if e, ok := runfiles.AwaitEnding(ctx, f.Files.Dir, limit); ok {
			return end{code: e.Code}
		}
	}
	return end{err: err}
}

// endOf returns the end of a first process that has ended or is gone. What it started may live on
// where the container has the process numbers of the machine: the program is over only when all
// of that has ended too. Until then its end is unknown, and it may still run.
func (f Finder) endOf(ctx context.Context, e end) (code int, err error) {
	if f.Whole {
		if err := sandbox.End(ctx, f.ID, f.Limit); err != nil {
			return 0, errors.Join(e.err, err)
		}
	}
	return e.code, e.err
}
