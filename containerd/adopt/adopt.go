package adopt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/daemon"
	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/shim"
	"deployster/containerd/sweep"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// interval is the interval at which Adopt checks whether an action has ended.
const interval = 100 * time.Millisecond

// Actions are the actions that this client and others have begun. It implements
// runner.Adopter.
type Actions struct {
	conn        *daemon.Conn
	sweeper     sweep.Sweeper
	surrendered sync.Map // the containers of actions that this client no longer supervises, by ID
}

// New returns the actions of a connection.
func New(conn *daemon.Conn, s sweep.Sweeper) *Actions { return &Actions{conn: conn, sweeper: s} }

// Surrender records that this client no longer supervises a container.
func (a *Actions) Surrender(container string) { a.surrendered.Store(container, true) }

// Adopt implements runner.Adopter.
func (a *Actions) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	action := layout.ActionName(id)
	var following *follower
	var troubled time.Time // when checking the container began to fail
	defer func() { following.stop() }()
	for {
		if out, there, err := a.sweeper.Outcomes.Load(action); there || err != nil {
			if following == nil {
				hand(out, w)
			}
			return out, failure.Of("Reading how an action ended", err)
		}
		c, request, found, err := a.Find(ctx, action)
		gone := false
		switch {
		case err == nil && !found:
			if _, there, _ := a.sweeper.Outcomes.Load(action); there {
				continue // collected since the search
			}
			return runner.Outcome{Fate: runner.Unknown, NoTrace: true, Forgotten: a.sweeper.Outcomes.Pruned(),
				Why: "there is no record of it in this containerd"}, nil
		case err == nil:
			gone, err = a.collectIfDead(ctx, c)
		}
		switch {
		case ctx.Err() != nil:
			return runner.Outcome{}, context.Cause(ctx)
		case errdefs.IsUnavailable(err):
			if err := a.conn.Revive(ctx); err != nil {
				return runner.Outcome{}, err
			}
		case err != nil && troubled.IsZero():
			troubled = time.Now() // a lost shim is being removed, or the program was started just now
		case err != nil && time.Since(troubled) > sweep.CleanupLimit:
			return runner.Outcome{}, failure.Of("Supervising "+c.Labels[layout.LabelName], err)
		case err == nil:
			troubled = time.Time{}
		}
		switch {
		case gone:
			continue
		case following == nil:
			dir := a.sweeper.FilesDir(c)
			if sweep.IsShared(c) {
				dir, request = runfiles.ActionDir(dir, request), 0 // as in a container of its own
			}
			if following = follow(dir, request, w); w.Running != nil {
				w.Running()
			}
		}
		select {
		case <-ctx.Done():
			return runner.Outcome{}, context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}

// hand writes the output of an action that has ended to its watcher.
func hand(out runner.Outcome, w runner.Watch) {
	if w.Stdout != nil {
		_, _ = w.Stdout.Write(out.Stdout) // output for a watcher that fails is dropped
	}
	if w.Stderr != nil {
		_, _ = w.Stderr.Write(out.Stderr)
	}
}

// Running reports whether an action still runs, or may run.
func (a *Actions) Running(ctx context.Context, id string) (bool, error) {
	c, request, found, err := a.Find(ctx, layout.ActionName(id))
	if err != nil || !found {
		return false, failure.Of("Finding an action that still runs", err)
	}
	_, ended := a.sweeper.Ended(a.conn.Context(ctx), c)
	return !ended && (request == 0 || !a.sweeper.Answered(c, request)), nil
}

// End kills all processes of an action that has a container of its own. It does not wait for their end.
func (a *Actions) End(ctx context.Context, id string) error {
	c, request, found, err := a.Find(ctx, layout.ActionName(id))
	if err == nil && found && request == 0 {
		ctx, cancel := a.conn.Detached(ctx, 10*time.Second)
		defer cancel()
		_, err = a.conn.Client.TaskService().Kill(ctx, &taskapi.KillRequest{ContainerID: c.ID, Signal: uint32(unix.SIGKILL), All: true})
		err = failure.UnlessGone(errgrpc.ToNative(err))
	}
	return failure.Of("Ending an action that runs for too long", err)
}

// Discard implements runner.Adopter. The client that recorded how the action ended may
// have been killed before it removed the container: Discard removes that too.
func (a *Actions) Discard(ctx context.Context, id string) error {
	action := layout.ActionName(id)
	for end := time.Now().Add(sweep.CleanupLimit); ; time.Sleep(interval) {
		c, _, found, err := a.Find(ctx, action)
		if err == nil && found {
			_, err = a.collectIfDead(ctx, c)
		}
		switch {
		case err == nil && !found:
			return a.sweeper.Outcomes.Remove(action)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && time.Now().After(end):
			err = errors.New("its container still exists")
		case err == nil || time.Now().Before(end):
			continue // a lost shim is being removed, or another client is collecting it
		}
		return failure.Of("Removing what is left of an action that has ended", err)
	}
}

// Find returns the container of an action. If that is a worker or a shared container, request is the number
// that the action has there, which is never 0; otherwise it is 0.
func (a *Actions) Find(ctx context.Context, action string) (c containers.Container, request int64, found bool, err error) {
	list, err := a.conn.Client.ContainerService().List(a.conn.Context(ctx), fmt.Sprintf("labels.%q==%s", layout.LabelAction, action),
		fmt.Sprintf("labels.%q", layout.LabelWorker))
	if err != nil {
		return c, 0, false, err
	}
	for _, c := range list {
		if c.Labels[layout.LabelAction] == action {
			return c, 0, true, nil
		}
		open, err := runfiles.ReadLedger(a.sweeper.FilesDir(c))
		if err != nil {
			return c, 0, false, err
		}
		for request, one := range open {
			if one.Action == action {
				return c, request, true, nil
			}
		}
	}
	return c, 0, false, nil
}

// collectIfDead collects an action unless its client, whichever that is, is alive and still
// supervises it. A client that has given the action up does not supervise it any more, nor does one that has not noticed its end
// in time, as when it is suspended: the end is recorded whoever began the action.
func (a *Actions) collectIfDead(ctx context.Context, c containers.Container) (gone bool, err error) {
	dir, id := filepath.Split(c.Labels[layout.LabelClient])
	ctx = a.conn.Context(ctx)
	if _, surrendered := a.surrendered.Load(c.ID); surrendered {
		// The lease of this client holds the snapshot.
		if ctx, err = a.conn.Leased(ctx); err != nil {
			return false, err
		}
	} else if files := a.sweeper.FilesDir(c); layout.IsAlive(filepath.Dir(filepath.Clean(dir)), id) && !runfiles.IsGivenUp(files) &&
		!endUnnoticed(files) {
		return false, nil
	}
	return a.sweeper.Collect(ctx, c)
}

// endUnnoticed reports whether the program of a run ended so long ago that its client, which would have removed the run, is suspended.
func endUnnoticed(dir string) bool {
	end, ok := shim.ReadEnding(dir)
	return ok && time.Since(end.At) > runfiles.EndingLimit
}

// follower copies the output of an adopted action to its watcher.
type follower struct{ outputs []*runfiles.LogFile }

// follow begins with the output so far. It skips files that cannot be read. With a
// request it copies what a worker writes about that request.
func follow(dir string, request int64, w runner.Watch) *follower {
	f := &follower{}
	if runfiles.IsConfidential(dir) {
		return f // whoever watches may not know the secret
	}
	files := map[string]io.Writer{runfiles.StdoutFile: w.Stdout, runfiles.StderrFile: w.Stderr}
	if request != 0 {
		files = map[string]io.Writer{runfiles.StdoutFile: &worker.Filter{Request: request, Stdout: w.Stdout, Stderr: w.Stderr}}
	}
	for name, watch := range files {
		if watch == nil {
			continue
		}
		if file, err := os.Open(filepath.Join(dir, name)); err == nil {
			f.outputs = append(f.outputs, runfiles.Follow(file, watch))
		}
	}
	return f
}

// stop ends the follower when all output is copied.
func (f *follower) stop() {
	if f == nil {
		return
	}
	for _, o := range f.outputs {
		o.Finish()
		_ = o.File.Close() // it was only read
	}
}
