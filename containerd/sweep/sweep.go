package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/volumes"
	"deployster/internal/runtime/runner"
)

// Sweeper removes what dead clients of a runtime directory have left.
type Sweeper struct {
	Client     *client.Client
	Namespace  string
	RuntimeDir string
	Volumes    string            // the directory of their volumes; "" = none
	Embedded   bool              // the shims are deployster's
	Outcomes   runfiles.Outcomes // of the actions that it removes
	Patience   time.Duration     // how long it waits for another process that collects; 0 = 10 seconds
}

// Sweep removes everything that belongs to dead clients. It ends their queries, and
// workers without actions. It lets their actions end by themselves first, and keeps their
// outcomes for the clients that adopt them. Unless all is true it does nothing if no
// client's file shows that it is dead; all also finds clients whose files no longer
// exist, as after a reboot. It also removes the sockets of shims that were killed.
func (w Sweeper) Sweep(ctx context.Context, all bool) error {
	dead := map[string]bool{}
	for _, id := range layout.Clients(w.RuntimeDir) {
		if !layout.IsAlive(w.RuntimeDir, id) {
			dead[id] = true
		}
	}
	if len(dead) == 0 && !all {
		return nil
	}
	ctx = namespaces.WithNamespace(ctx, w.Namespace)
	list, err := w.Client.ContainerService().List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	var held *HeldError // it is waited for once
	for _, c := range list {
		dir, id := filepath.Split(c.Labels[layout.LabelClient])
		if filepath.Clean(dir) != layout.ClientsDir(w.RuntimeDir) {
			continue
		}
		if _, known := dead[id]; !known {
			// A client that was killed after the clients were listed may have begun more
			// than the list of containers has: the next sweep removes it.
			if layout.Exists(filepath.Join(layout.ClientsDir(w.RuntimeDir), id)) {
				continue
			}
			dead[id] = true
		}
		gone, err := true, error(nil)
		switch {
		case runner.Kind(c.Labels[layout.LabelKind]) != runner.Action:
			err = RemoveContainer(ctx, w.Client, c)
		case held != nil:
			gone = false
		default:
			gone, err = w.Collect(ctx, c)
			errors.As(err, &held)
		}
		if !gone {
			w.trim(c)
		}
		if !gone || err != nil {
			errs = append(errs, err)
			dead[id] = false // its file stays for the next sweep
		}
	}
	if all {
		errs = append(errs, w.Outcomes.Prune())
	}
	errs = append(errs, w.removeLeases(ctx, func(id string) bool { return !layout.IsAlive(w.RuntimeDir, id) }))
	errs = append(errs, w.sweepVolumes(dead))
	for id, gone := range dead {
		if !gone {
			continue
		}
		gone, err := w.removeOrphans(id)
		if errs = append(errs, err); gone && err == nil { // otherwise its file stays for the next sweep
			errs = append(errs, w.removeIO(id), os.RemoveAll(filepath.Join(layout.ClientsDir(w.RuntimeDir),
				id)))
		}
	}
	return errors.Join(append(errs, w.RemoveSockets())...)
}

// trim trims the logs of a container that stays without a client. The stdout of a worker is still needed.
func (w Sweeper) trim(c containers.Container) {
	dirs := []string{w.FilesDir(c)}
	if IsShared(c) {
		open, _ := runfiles.ReadLedger(dirs[0]) // empty on failure: then they grow until the next sweep
		for request := range open {
			dirs = append(dirs, runfiles.ActionDir(dirs[0], request))
		}
	}
	for _, dir := range dirs {
		runfiles.TrimAbandoned(dir, c.Labels[layout.LabelWorker] == "" || IsShared(c))
	}
}

// RemoveAll removes everything of all clients, alive or dead.
func (w Sweeper) RemoveAll(ctx context.Context) error {
	ctx = namespaces.WithNamespace(ctx, w.Namespace)
	list, err := w.Client.ContainerService().List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	errs := []error{w.removeLeases(ctx, func(string) bool { return true })}
	for _, c := range list {
		errs = append(errs, RemoveContainer(ctx, w.Client, c))
	}
	return errors.Join(errs...)
}

// EndAll ends the programs and the shims of all containers, and removes their cgroups. It
// needs neither runc nor the shims' program, which are gone with a data directory that had them.
func (w Sweeper) EndAll(ctx context.Context) error {
	list, err := w.Client.ContainerService().List(namespaces.WithNamespace(ctx, w.Namespace), `labels."`+layout.LabelClient+`"`)
	errs := []error{err}
	for _, c := range list {
		errs = append(errs, w.EndOrphan(c.ID))
	}
	return errors.Join(errs...)
}

// sweepVolumes removes the volumes of clients of which nothing else is left. It also
// removes those of clients without a record, as after a restart of the machine.
func (w Sweeper) sweepVolumes(dead map[string]bool) error {
	if w.Volumes == "" {
		return nil
	}
	return volumes.Sweep(w.Volumes, func(client string) bool {
		gone, known := dead[client]
		return gone || !known && !layout.Exists(filepath.Join(layout.ClientsDir(w.RuntimeDir), client))
	})
}

func (w Sweeper) removeLeases(ctx context.Context, gone func(id string) bool) error {
	service := w.Client.LeasesService()
	list, err := service.List(ctx, `labels."`+layout.LabelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range list {
		dir, id := filepath.Split(l.Labels[layout.LabelClient])
		if filepath.Clean(dir) == layout.ClientsDir(w.RuntimeDir) && gone(id) {
			if err := service.Delete(ctx, l); !errdefs.IsNotFound(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// CleanupLimit is how long the removal of a container may take.
const CleanupLimit = time.Minute

// RemoveContainer removes a container with its task and its snapshot, whatever their
// condition, and also if some of them do not exist.
func RemoveContainer(ctx context.Context, c *client.Client, record containers.Container) error {
	ctx, cancel := context.WithTimeout(ctx, CleanupLimit)
	defer cancel()
	if err := RemoveTask(ctx, c, record.ID); err != nil {
		return err
	}
	return RemoveRecord(ctx, c, record)
}

// RemoveRecord removes a container without a task, with its snapshot.
func RemoveRecord(ctx context.Context, c *client.Client, record containers.Container) error {
	var group errgroup.Group
	group.Go(func() error { return failure.UnlessGone(c.ContainerService().Delete(ctx, record.ID)) })
	group.Go(func() error {
		return failure.UnlessGone(c.SnapshotService(record.Snapshotter).Remove(ctx, record.SnapshotKey))
	})
	return group.Wait()
}

// RemoveTask kills whatever runs in a container, and removes its task.
func RemoveTask(ctx context.Context, c *client.Client, id string) error {
	tasks := c.TaskService()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		_, err := tasks.Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: id})
		err = failure.UnlessGone(errgrpc.ToNative(err))
		if err == nil || errdefs.IsUnavailable(err) {
			return err
		}
		// Mostly an error means that it runs; the shims report it in words only. Killing
		// again does no harm.
		_, kerr := tasks.Kill(ctx, &taskapi.KillRequest{ContainerID: id, Signal: uint32(unix.SIGKILL), All: true})
		select {
		case <-ctx.Done():
			return errors.Join(err, failure.UnlessGone(errgrpc.ToNative(kerr)))
		case <-time.After(pause):
		}
	}
}
