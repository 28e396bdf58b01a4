package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/shim"
	"deployster/containerd/volumes"
	"deployster/internal/runtime/runner"
)

// FilesDir returns the directory of a container's standard files.
func (w Sweeper) FilesDir(c containers.Container) string {
	return filepath.Join(w.RuntimeDir, "io", filepath.Base(c.Labels[layout.LabelClient]), c.ID)
}

// Collect removes the container of a dead client's action if the action has ended, and
// saves its outcome. It returns gone = false while the action runs, or may run. It never
// kills an action. Several servers and clients may call it at the same time: one of them
// does the work. If that one takes too long, the error is a *HeldError.
func (w Sweeper) Collect(ctx context.Context, c containers.Container) (gone bool, err error) {
	lock, err := w.lockCollecting(ctx)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if c, err = w.Client.ContainerService().Get(ctx, c.ID); err != nil {
		return errdefs.IsNotFound(err), failure.UnlessGone(err) // another process was faster
	}
	if c.Labels[layout.LabelWorker] != "" {
		return w.collectWorker(ctx, c)
	}
	action := c.Labels[layout.LabelAction]
	if action != "" {
		switch _, there, err := w.Outcomes.Load(action); {
		case err != nil:
			return false, err
		case there: // whoever saved it was killed before it could remove the container
			return true, w.removeEnded(ctx, c)
		}
	}
	k, ended := w.Ended(ctx, c)
	if !ended {
		return false, nil
	}
	if err := w.endTask(ctx, c); err != nil {
		return false, err
	}
	if k.Fate == runner.Exited && NeverBegan(w.FilesDir(c), k.ExitCode) {
		k = runner.Outcome{Fate: runner.NotBegun}
	}
	if action != "" {
		k.Stdout = runfiles.ReadLog(filepath.Join(w.FilesDir(c), runfiles.StdoutFile), runner.KeepOutcome)
		k.Stderr = runfiles.ReadLog(filepath.Join(w.FilesDir(c), runfiles.StderrFile), 0)
		if err := volumes.Noted(w.FilesDir(c), &k.Result); err != nil {
			return false, err
		}
		if err := runfiles.Confidential(w.FilesDir(c), &k); err != nil {
			return false, err
		}
		if err := w.Outcomes.Save(action, k); err != nil {
			return false, err
		}
	}
	return true, w.removeEnded(ctx, c)
}

// Ended reports whether an action has ended, and how. In doubt it returns false.
func (w Sweeper) Ended(ctx context.Context, c containers.Container) (k runner.Outcome, ended bool) {
	resp, err := w.Client.TaskService().Get(ctx, &taskapi.GetRequest{ContainerID: c.ID})
	if err = errgrpc.ToNative(err); err != nil {
		if !errdefs.IsNotFound(err) {
			return k, false
		}
		return endLeft(ctx, c, w.endingWithoutTask(c))
	}
	at := resp.Process.ExitedAt.AsTime()
	switch resp.Process.Status {
	case tasktypes.Status_CREATED:
		// A start that was requested just before the client was killed may still come:
		// then the task cannot be deleted, because it runs.
		return runner.Outcome{Fate: runner.NotBegun}, true
	case tasktypes.Status_STOPPED:
		if !w.Embedded && at.Unix() > 0 {
			result := runner.Result{ExitCode: int(resp.Process.ExitStatus), OOM: sandbox.OOMKilled(c.ID)}
			return endLeft(ctx, c, runner.Outcome{Fate: runner.Exited, Ended: at, Result: result})
		}
		k = w.endingWithoutTask(c)
		// Its shim may be about to record it.
		if k.Fate == runner.Exited || time.Since(at) > runfiles.EndingLimit {
			return endLeft(ctx, c, k)
		}
	}
	return k, false
}

// leftLimit is how long the processes that a first process has left may take to end.
const leftLimit = time.Second

// endLeft ends what the first process of a container has left, and reports whether all of it has
// ended: until then the action may still run.
func endLeft(ctx context.Context, c containers.Container, k runner.Outcome) (runner.Outcome, bool) {
	if k.Fate == runner.NotBegun {
		return k, true
	}
	return k, sandbox.End(ctx, c.ID, leftLimit) == nil
}

// endingWithoutTask returns the outcome of an action whose task no longer exists.
func (w Sweeper) endingWithoutTask(c containers.Container) runner.Outcome {
	dir := w.FilesDir(c)
	if e, ok := shim.ReadEnding(dir); ok {
		return runner.Outcome{Fate: runner.Exited, Ended: e.At, Result: runner.Result{ExitCode: e.Code, OOM: sandbox.OOMKilled(c.ID)}}
	}
	if !layout.Exists(filepath.Join(dir, runfiles.StdinFile)) {
		return runner.Outcome{Fate: runner.Unknown, Why: "the machine was restarted since"}
	}
	if !layout.Exists(filepath.Join(dir, runfiles.BeginFile)) {
		return runner.Outcome{Fate: runner.NotBegun}
	}
	return runner.Outcome{Fate: runner.Unknown, Why: "its supervisor was lost, and its outcome is unknown"}
}

// endTask removes the task of a program that has ended. Only when its shim has ended is
// the whole output of the program written.
func (w Sweeper) endTask(ctx context.Context, c containers.Container) error {
	if !layout.Exists(filepath.Join(w.FilesDir(c), runfiles.BeginFile)) {
		return w.killTask(ctx, c.ID) // it was never requested to start, and never will be
	}
	return w.deleteTask(ctx, c.ID)
}

// deleteTask removes a task that does not run.
func (w Sweeper) deleteTask(ctx context.Context, id string) error {
	_, err := w.Client.TaskService().Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: id})
	return failure.UnlessGone(errgrpc.ToNative(err))
}

// killTask removes a task whether it runs or not.
func (w Sweeper) killTask(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, CleanupLimit)
	defer cancel()
	// Before the deletion, which would wait for a task that was not started.
	// see RemoveTask
	_, _ = w.Client.TaskService().Kill(ctx, &taskapi.KillRequest{ContainerID: id, Signal: uint32(unix.SIGKILL), All: true})
	return RemoveTask(ctx, w.Client, id)
}

// removeEnded removes the container of an action that has ended, and its files.
func (w Sweeper) removeEnded(ctx context.Context, c containers.Container) error {
	if err := w.deleteTask(ctx, c.ID); err != nil {
		return fmt.Errorf("removing the task of %s: %w", c.Labels[layout.LabelName], err)
	}
	if err := RemoveRecord(ctx, w.Client, c); err != nil {
		return err
	}
	if w.Volumes != "" {
		if err := volumes.RemoveOf(w.Volumes, c.ID); err != nil {
			return err
		}
	}
	return layout.RemoveFiles(w.FilesDir(c))
}

// cutOff matches the only output of runc as the first process of a container, in place of
// the program, when the process that was to start the program has ended. runc ends then,
// with the exit code 1, or 255 since version 1.4.
var cutOff = regexp.MustCompile(`^write exec fifo [^\n]*: broken pipe\n$`)

var ErrCutOff = errors.New("the starter of its program ended before it had started, as when containerd is killed")

// NeverBegan reports whether the process that ended with an exit code, in a container
// with these standard files, was runc and not the program.
func NeverBegan(dir string, code int) bool {
	if code != 1 && code != 255 {
		return false
	}
	said, err := os.Stat(filepath.Join(dir, runfiles.StdoutFile))
	return err == nil && said.Size() == 0 && cutOff.Match(runfiles.ReadLog(filepath.Join(dir, runfiles.StderrFile), 0))
}
