package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	tasktypes "github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// stdio is the directory of a container's standard files.
func (w sweeper) stdio(c containers.Container) string {
	return filepath.Join(w.runtimeDir, "io", filepath.Base(c.Labels[labelClient]), c.ID)
}

// collect removes the action of a dead client if it has ended, and keeps what
// is known of its end. It is not gone while it runs, or may run: in doubt it
// does. Nothing is ever killed here. Many may try at one time, servers and
// clients: one does it.
func (w sweeper) collect(ctx context.Context, c containers.Container) (gone bool, err error) {
	lock, err := openLock(filepath.Join(w.runtimeDir, "collecting"), os.O_CREATE)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock); err != nil {
		return false, err
	}
	if c, err = w.client.ContainerService().Get(ctx, c.ID); err != nil {
		return errdefs.IsNotFound(err), unlessGone(err) // another was faster
	}
	if c.Labels[labelCarrier] != "" {
		return w.collectCarrier(ctx, c)
	}
	action := c.Labels[labelAction]
	if action != "" {
		switch _, there, err := w.outcomes.load(action); {
		case err != nil:
			return false, err
		case there: // whoever saved it died before he could remove the container
			return true, w.removeEnded(ctx, c)
		}
	}
	k, ended := w.ended(ctx, c)
	if !ended {
		return false, nil
	}
	if err := w.endTask(ctx, c); err != nil {
		return false, err
	}
	if k.Fate == runner.Exited && neverBegan(w.stdio(c), k.Code) {
		k = kept{Fate: runner.NotBegun}
	}
	if action != "" {
		k.Name = c.Labels[labelName]
		k.Stdout, k.Stderr = readLog(filepath.Join(w.stdio(c), stdoutFile)), readLog(filepath.Join(w.stdio(c), stderrFile))
		if err := w.outcomes.save(action, k); err != nil {
			return false, err
		}
	}
	return true, w.removeEnded(ctx, c)
}

// ended reports whether an action has ended, and how. In doubt it has not.
func (w sweeper) ended(ctx context.Context, c containers.Container) (k kept, ended bool) {
	resp, err := w.client.TaskService().Get(ctx, &taskapi.GetRequest{ContainerID: c.ID})
	if err = errgrpc.ToNative(err); err != nil {
		return w.endedBefore(c), errdefs.IsNotFound(err)
	}
	at := resp.Process.ExitedAt.AsTime()
	switch resp.Process.Status {
	case tasktypes.Status_CREATED:
		// A start that was asked for just before the client died may still come:
		// then the task cannot be deleted, because it runs.
		return kept{Fate: runner.NotBegun}, true
	case tasktypes.Status_STOPPED:
		if !w.embedded && at.Unix() > 0 {
			return kept{Fate: runner.Exited, Code: int(resp.Process.ExitStatus), Ended: at, OOM: oomKilled(c.ID)}, true
		}
		k = w.endedBefore(c)
		// Its shim may be about to write it down.
		return k, k.Fate == runner.Exited || time.Since(at) > endingSlow
	}
	return k, false
}

// endedBefore says what became of an action whose task is gone.
func (w sweeper) endedBefore(c containers.Container) kept {
	dir := w.stdio(c)
	if e, ok := shim.ReadEnding(dir); ok {
		return kept{Fate: runner.Exited, Code: e.Code, Ended: e.At, OOM: oomKilled(c.ID)}
	}
	if !exists(filepath.Join(dir, stdinFile)) {
		return kept{Fate: runner.Unknown, Why: "the machine was started anew since"}
	}
	if !exists(filepath.Join(dir, beginFile)) {
		return kept{Fate: runner.NotBegun}
	}
	return kept{Fate: runner.Unknown, Why: "the process that looked after it was lost, and with it how it ended"}
}

// endTask removes the task of a program that has ended. Only when its shim is
// gone has it written all that the program printed.
func (w sweeper) endTask(ctx context.Context, c containers.Container) error {
	if !exists(filepath.Join(w.stdio(c), beginFile)) {
		return w.killTask(ctx, c.ID) // it was never to be started, and nobody will
	}
	return w.deleteTask(ctx, c.ID)
}

// deleteTask removes a task that does not run.
func (w sweeper) deleteTask(ctx context.Context, id string) error {
	_, err := w.client.TaskService().Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: id})
	return unlessGone(errgrpc.ToNative(err))
}

// killTask removes a task whatever it does.
func (w sweeper) killTask(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupLimit)
	defer cancel()
	// Before it is deleted: one that was not started would be waited for.
	_, _ = w.client.TaskService().Kill(ctx, &taskapi.KillRequest{ContainerID: id, Signal: uint32(unix.SIGKILL), All: true}) // see removeTask
	return removeTask(ctx, w.client, id)
}

// removeEnded removes the container of an action that has ended, and its files.
func (w sweeper) removeEnded(ctx context.Context, c containers.Container) error {
	if err := w.deleteTask(ctx, c.ID); err != nil {
		return fmt.Errorf("removing the task of %s: %w", c.Labels[labelName], err)
	}
	if err := removeRecord(ctx, w.client, c); err != nil {
		return err
	}
	return os.RemoveAll(w.stdio(c))
}
