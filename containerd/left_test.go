package containerd

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/snapshots"
)

// nothingLeft checks that no run has left anything: a Runtime that is idle has
// its lock file and at most its one lease.
func nothingLeft(t testing.TB, r *Runtime) {
	t.Helper()
	r.runsOpen.Wait() // what it clears away behind their backs
	eventually(t, time.Minute, "the server has removed what it was given", func() bool {
		r.clearing.mu.Lock()
		defer r.clearing.mu.Unlock()
		return len(r.clearing.open) == 0
	})
	ctx := r.ctx(context.Background())
	if list, err := r.client.ContainerService().List(ctx); err != nil || len(list) > 0 {
		t.Errorf("%d containers are left (%v)", len(list), err)
	}
	if resp, err := r.client.TaskService().List(ctx, &taskapi.ListTasksRequest{}); err != nil || len(resp.Tasks) > 0 {
		t.Errorf("tasks are left: %v (%v)", resp, err)
	}
	err := r.client.SnapshotService(r.snapshotter).Walk(ctx, func(_ context.Context, i snapshots.Info) error {
		if i.Kind != snapshots.KindCommitted {
			t.Errorf("a snapshot is left: %s", i.Name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	list, err := r.client.LeasesService().List(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, l := range list {
		res, err := r.client.LeasesService().ListResources(ctx, leases.Lease{ID: l.ID})
		if l.ID != r.lease.ID || len(res) > 0 || err != nil {
			t.Errorf("lease %s is left, with %v (%v)", l.ID, res, err)
		}
	}
	noFiles(t, filepath.Join(r.runtimeDir, "io"))
	noFiles(t, filepath.Join(r.runtimeDir, "runc"))
	if r.embedded {
		noFiles(t, filepath.Join(r.runtimeDir, "s"))
		noFiles(t, filepath.Join(r.runtimeDir, "state", "io.containerd.runtime.v2.task"))
		for _, p := range processesWith(r.runtimeDir) {
			if !strings.HasPrefix(p, serverName) {
				t.Errorf("a process is left: %s", p)
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), r.runtimeDir+"/") {
		t.Errorf("mounts are left below %s", r.runtimeDir)
	}
	if dirs, _ := filepath.Glob("/sys/fs/cgroup/*/" + r.id + "-*"); len(dirs) > 0 {
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
