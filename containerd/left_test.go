package containerd

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/snapshots"

	"deployster/containerd/layout"
)

// nothingLeft checks that no run has left anything: a Runtime that is idle has
// its lock file and at most its one lease.
func nothingLeft(t testing.TB, r *Runtime) {
	t.Helper()
	r.runsOpen.Wait() // what it clears away behind their backs
	ctx := r.conn.Context(context.Background())
	eventually(t, "the server has removed what it was given", func() bool {
		list, err := r.conn.Client.ContainerService().List(ctx)
		active := 0
		_ = r.conn.Client.SnapshotService(r.conn.Snapshotter).Walk(ctx, func(_ context.Context, i snapshots.Info) error {
			if i.Kind != snapshots.KindCommitted {
				active++
			}
			return nil
		})
		return err == nil && len(list)+active == 0
	})
	if list, err := r.conn.Client.ContainerService().List(ctx); err != nil || len(list) > 0 {
		t.Errorf("%d containers are left (%v)", len(list), err)
	}
	if resp, err := r.conn.Client.TaskService().List(ctx, &taskapi.ListTasksRequest{}); err != nil || len(resp.Tasks) > 0 {
		t.Errorf("tasks are left: %v (%v)", resp, err)
	}
	err := r.conn.Client.SnapshotService(r.conn.Snapshotter).Walk(ctx, func(_ context.Context, i snapshots.Info) error {
		if i.Kind != snapshots.KindCommitted {
			t.Errorf("a snapshot is left: %s", i.Name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	list, err := r.conn.Client.LeasesService().List(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, l := range list {
		res, err := r.conn.Client.LeasesService().ListResources(ctx, leases.Lease{ID: l.ID})
		if l.ID != layout.LeaseOf(r.conn.ID) || len(res) > 0 || err != nil {
			t.Errorf("lease %s is left, with %v (%v)", l.ID, res, err)
		}
	}
	noFiles(t, filepath.Join(r.conn.Config.RuntimeDir, "io"))
	noFiles(t, r.volumes())
	noFiles(t, filepath.Join(r.conn.Config.RuntimeDir, "runc"))
	if r.conn.Embedded {
		// A shim removes its socket as the last thing it does, and the server its directory
		// then: both a moment after its container is gone.
		tasks := filepath.Join(r.conn.Config.RuntimeDir, "state", "io.containerd.runtime.v2.task")
		eventually(t, "shims have removed what they had", func() bool {
			sockets, _ := filepath.Glob(filepath.Join(r.conn.Config.Shims(), "*")) // the pattern is one
			bundles, _ := filepath.Glob(filepath.Join(tasks, "*", "*"))
			return len(sockets)+len(bundles) == 0
		})
		noFiles(t, r.conn.Config.Shims())
		noFiles(t, tasks)
		for _, p := range processesWith(r.conn.Config.RuntimeDir) {
			if !strings.HasPrefix(p, layout.ServerName) {
				t.Errorf("a process is left: %s", p)
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), r.conn.Config.RuntimeDir+"/") {
		t.Errorf("mounts are left below %s", r.conn.Config.RuntimeDir)
	}
	if dirs := cgroupsLeft(r.conn.ID); len(dirs) > 0 {
		t.Errorf("cgroups are left: %s", dirs)
	}
}

// noFiles checks that there are at most directories below one.
func noFiles(t testing.TB, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}

// cgroupsLeft lists the cgroups of a client's containers.
func cgroupsLeft(client string) (list []string) {
	for _, root := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} { // of version 2, and of 1
		dirs, _ := filepath.Glob(root + client + "-*") // the pattern is one
		list = append(list, dirs...)
	}
	return list
}
