package sweep

import (
	"context"
	"errors"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
)

// CleanupLimit is how long the removal of a container may take.
const CleanupLimit = time.Minute

// RemoveContainer takes a container away with its task and its snapshot,
// whatever state they are in and whichever of them is there.
func RemoveContainer(ctx context.Context, c *client.Client, record containers.Container) error {
	ctx, cancel := context.WithTimeout(ctx, CleanupLimit)
	defer cancel()
	if err := RemoveTask(ctx, c, record.ID); err != nil {
		return err
	}
	return RemoveRecord(ctx, c, record)
}

// RemoveRecord takes a container without a task away, with its snapshot.
func RemoveRecord(ctx context.Context, c *client.Client, record containers.Container) error {
	var group errgroup.Group
	group.Go(func() error { return failure.UnlessGone(c.ContainerService().Delete(ctx, record.ID)) })
	group.Go(func() error {
		return failure.UnlessGone(c.SnapshotService(record.Snapshotter).Remove(ctx, record.SnapshotKey))
	})
	return group.Wait()
}

// RemoveTask ends whatever runs in a container.
func RemoveTask(ctx context.Context, c *client.Client, id string) error {
	tasks := c.TaskService()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		_, err := tasks.Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: id})
		err = failure.UnlessGone(errgrpc.ToNative(err))
		if err == nil || errdefs.IsUnavailable(err) {
			return err
		}
		// Mostly it runs; the shims say so in words only. To kill again what
		// was killed does no harm.
		_, kerr := tasks.Kill(ctx, &taskapi.KillRequest{ContainerID: id, Signal: uint32(unix.SIGKILL), All: true})
		select {
		case <-ctx.Done():
			return errors.Join(err, failure.UnlessGone(errgrpc.ToNative(kerr)))
		case <-time.After(pause):
		}
	}
}
