package containerd

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"google.golang.org/grpc"

	"deployster/internal/invoke"
)

// faultyTasks is a task service some of whose calls answer otherwise.
type faultyTasks struct {
	taskapi.TasksClient
	get   func() (*taskapi.GetResponse, error)
	start func(really func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error)
	wait  func() (*taskapi.WaitResponse, error)
}

func (f faultyTasks) Get(ctx context.Context, r *taskapi.GetRequest, o ...grpc.CallOption) (*taskapi.GetResponse, error) {
	if f.get == nil {
		return f.TasksClient.Get(ctx, r, o...)
	}
	return f.get()
}

func (f faultyTasks) Start(ctx context.Context, r *taskapi.StartRequest, o ...grpc.CallOption) (*taskapi.StartResponse, error) {
	really := func() (*taskapi.StartResponse, error) { return f.TasksClient.Start(ctx, r, o...) }
	if f.start == nil {
		return really()
	}
	return f.start(really)
}

func (f faultyTasks) Wait(ctx context.Context, r *taskapi.WaitRequest, o ...grpc.CallOption) (*taskapi.WaitResponse, error) {
	if f.wait == nil {
		return f.TasksClient.Wait(ctx, r, o...)
	}
	return f.wait()
}

// withFaults puts a faulty task service before a Runtime's, and gives what
// takes it away again.
func withFaults(t *testing.T, r *Runtime, f faultyTasks) (without func()) {
	t.Helper()
	real := r.client
	f.TasksClient = real.TaskService()
	faulty, err := client.New("", client.WithServices(
		client.WithContainerStore(real.ContainerService()),
		client.WithLeasesService(real.LeasesService()),
		client.WithContentStore(real.ContentStore()),
		client.WithImageStore(real.ImageService()),
		client.WithSnapshotters(map[string]snapshots.Snapshotter{r.snapshotter: real.SnapshotService(r.snapshotter)}),
		client.WithTaskClient(f)))
	if err != nil {
		t.Fatal(err)
	}
	r.client = faulty
	return func() { r.client = real }
}

// The task service may fail for a moment. What may run is not swept then.
func TestSweepInDoubt(t *testing.T) {
	t.Parallel()
	o := daemon(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	c := startClient(t, o, invoke.Spec{Name: "a", Kind: invoke.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo started; exec sleep 3"}})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	ctx := context.Background()
	without := withFaults(t, r, faultyTasks{get: func() (*taskapi.GetResponse, error) {
		return nil, errgrpc.ToGRPC(errdefs.ErrUnavailable)
	}})
	err := r.sweeper().sweep(ctx, true)
	names, aerr := r.Adrift(ctx)
	without()
	if err != nil || aerr != nil || len(names) != 1 {
		t.Errorf("the sweep gave %v; adrift are %q, %v", err, names, aerr)
	}
	if kinds := containerKinds(t, r); len(kinds) != 1 {
		t.Fatalf("there are containers %q", kinds)
	}
	if names, err := r.Adrift(ctx); err != nil || len(names) != 1 {
		t.Errorf("it was killed: adrift are %q, %v", names, err)
	}
	if dirs, err := os.ReadDir(filepath.Join(o.RuntimeDir, "io")); err != nil || len(dirs) == 0 {
		t.Errorf("its files are gone: %v", err)
	}
	eventually(t, 20*time.Second, "it is swept when it has ended", func() bool {
		if err := r.sweeper().sweep(ctx, true); err != nil {
			t.Error(err)
		}
		return len(containerKinds(t, r)) == 0
	})
	nothingLeft(t, r)
}
