package containerd

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

	"deployster/internal/runner"
)

// sweeper removes what dead clients of a runtime directory have left.
type sweeper struct {
	client     *client.Client
	namespace  string
	runtimeDir string
	embedded   bool     // the shims are ours
	outcomes   outcomes // of the actions that it removes
}

// sweep removes what belongs to dead clients: their queries are ended, and
// workers that carry out no action, their
// actions are left to end by themselves first, and how they ended is kept for
// whoever adopts them. Unless all is true it looks
// only when there are dead clients by their files; all also finds those whose
// files are gone, as after a reboot.
func (w sweeper) sweep(ctx context.Context, all bool) error {
	dead := map[string]bool{}
	for _, id := range clients(w.runtimeDir) {
		if !alive(w.runtimeDir, id) {
			dead[id] = true
		}
	}
	if len(dead) == 0 && !all {
		return nil
	}
	ctx = namespaces.WithNamespace(ctx, w.namespace)
	list, err := w.client.ContainerService().List(ctx, `labels."`+labelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		dir, id := filepath.Split(c.Labels[labelClient])
		if filepath.Clean(dir) != clientsDir(w.runtimeDir) {
			continue
		}
		if _, known := dead[id]; !known {
			// Whoever died after the clients were looked at may have begun more
			// than the list has: he is for the next sweep.
			if exists(filepath.Join(clientsDir(w.runtimeDir), id)) {
				continue
			}
			dead[id] = true
		}
		gone, err := true, error(nil)
		carrier := c.Labels[labelCarrier] != ""
		if carrier || runner.Kind(c.Labels[labelKind]) == runner.Action {
			gone, err = w.collect(ctx, c)
		} else {
			err = removeContainer(ctx, w.client, c)
		}
		if !gone {
			trimLeft(w.stdio(c), !carrier) // what a carrier says is read
		}
		if !gone || err != nil {
			errs = append(errs, err)
			dead[id] = false // his file stays for the next sweep
		}
	}
	if all {
		errs = append(errs, w.outcomes.prune())
	}
	errs = append(errs, w.removeLeases(ctx, func(id string) bool { return !alive(w.runtimeDir, id) }))
	for id, gone := range dead {
		if !gone {
			continue
		}
		err := w.removeOrphans(id)
		if errs = append(errs, err); err == nil {
			errs = append(errs, os.RemoveAll(filepath.Join(w.runtimeDir, "io", id)), os.RemoveAll(filepath.Join(clientsDir(w.runtimeDir), id)))
		}
	}
	return errors.Join(errs...)
}

// removeAll removes everything of all clients, alive or dead.
func (w sweeper) removeAll(ctx context.Context) error {
	ctx = namespaces.WithNamespace(ctx, w.namespace)
	list, err := w.client.ContainerService().List(ctx, `labels."`+labelClient+`"`)
	if err != nil {
		return err
	}
	errs := []error{w.removeLeases(ctx, func(string) bool { return true })}
	for _, c := range list {
		errs = append(errs, removeContainer(ctx, w.client, c))
	}
	return errors.Join(errs...)
}

func (w sweeper) removeLeases(ctx context.Context, gone func(id string) bool) error {
	service := w.client.LeasesService()
	list, err := service.List(ctx, `labels."`+labelClient+`"`)
	if err != nil {
		return err
	}
	var errs []error
	for _, l := range list {
		dir, id := filepath.Split(l.Labels[labelClient])
		if filepath.Clean(dir) == clientsDir(w.runtimeDir) && gone(id) {
			if err := service.Delete(ctx, l); !errdefs.IsNotFound(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// removeContainer takes a container away with its task and its snapshot,
// whatever state they are in and whichever of them is there.
func removeContainer(ctx context.Context, c *client.Client, record containers.Container) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupLimit)
	defer cancel()
	if err := removeTask(ctx, c, record.ID); err != nil {
		return err
	}
	return removeRecord(ctx, c, record)
}

// removeRecord takes a container without a task away, with its snapshot.
func removeRecord(ctx context.Context, c *client.Client, record containers.Container) error {
	var group errgroup.Group
	group.Go(func() error { return unlessGone(c.ContainerService().Delete(ctx, record.ID)) })
	group.Go(func() error {
		return unlessGone(c.SnapshotService(record.Snapshotter).Remove(ctx, record.SnapshotKey))
	})
	return group.Wait()
}

// removeTask ends whatever runs in a container.
func removeTask(ctx context.Context, c *client.Client, id string) error {
	tasks := c.TaskService()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		_, err := tasks.Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: id})
		err = unlessGone(errgrpc.ToNative(err))
		if err == nil || errdefs.IsUnavailable(err) {
			return err
		}
		// Mostly it runs; the shims say so in words only. To kill again what
		// was killed does no harm.
		_, kerr := tasks.Kill(ctx, &taskapi.KillRequest{ContainerID: id, Signal: uint32(unix.SIGKILL), All: true})
		select {
		case <-ctx.Done():
			return errors.Join(err, unlessGone(errgrpc.ToNative(kerr)))
		case <-time.After(pause):
		}
	}
}

func unlessGone(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// label makes a text fit for a label, whose value containerd limits.
func label(s string) string {
	return s[:min(len(s), 1024)]
}
