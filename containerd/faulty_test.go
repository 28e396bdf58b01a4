package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/pkg/protobuf"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"deployster/containerd/daemon"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
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
	real := r.conn.Client
	f.TasksClient = real.TaskService()
	faulty, err := client.New("", client.WithServices(
		client.WithContainerStore(real.ContainerService()),
		client.WithLeasesService(real.LeasesService()),
		client.WithContentStore(real.ContentStore()),
		client.WithImageStore(real.ImageService()),
		client.WithSnapshotters(map[string]snapshots.Snapshotter{r.conn.Snapshotter: real.SnapshotService(r.conn.Snapshotter)}),
		client.WithTaskClient(f)))
	if err != nil {
		t.Fatal(err)
	}
	r.conn.Client = faulty
	return func() { r.conn.Client = real }
}

// The task service may fail for a moment. What may run is not swept then.
func TestSweep_SkipsContainersThatMayRun(t *testing.T) {
	t.Parallel()
	o := ownDaemon(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	c := startClient(t, o, runner.Spec{Name: "a", ID: "id", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Args: []string{"-c", "echo started; exec sleep 3"}})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	ctx := context.Background()
	without := withFaults(t, r, faultyTasks{get: func() (*taskapi.GetResponse, error) {
		return nil, errgrpc.ToGRPC(errdefs.ErrUnavailable)
	}})
	err := r.sweeper().Sweep(ctx, true)
	runs, aerr := r.Running(ctx, "id")
	without()
	if err != nil || aerr != nil || !runs {
		t.Errorf("the sweep gave %v; it runs: %v, %v", err, runs, aerr)
	}
	if kinds := containerKinds(t, r); len(kinds) != 1 {
		t.Fatalf("there are containers %q", kinds)
	}
	if runs, err := r.Running(ctx, "id"); err != nil || !runs {
		t.Errorf("it was killed: %v", err)
	}
	if dirs, err := os.ReadDir(filepath.Join(o.RuntimeDir, "io")); err != nil || len(dirs) == 0 {
		t.Errorf("its files are gone: %v", err)
	}
	eventually(t, "it is swept when it has ended", func() bool {
		if err := r.sweeper().Sweep(ctx, true); err != nil {
			t.Error(err)
		}
		return len(containerKinds(t, r)) == 0
	})
	nothingLeft(t, r)
}

// A start that is cut off may have been carried out all the same. One that was
// is waited for; of one that was not, or not yet, nobody knows the outcome, and an
// action is left alone until it is adopted.
func TestStart_AnInterruptedCallHasAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{errdefs.ErrUnavailable, context.DeadlineExceeded, context.Canceled} {
		t.Run(cause.Error(), func(t *testing.T) {
			t.Parallel()
			r := open(t, ownDaemon(t))
			dgst := packProbe(t, r)
			ctx := context.Background()
			s := runner.Spec{Name: "x", Kind: runner.Action, Digest: dgst, Args: []string{"exit", "3"}}
			without := withFaults(t, r, faultyTasks{start: func(really func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error) {
				if _, err := really(); err != nil {
					t.Error(err)
				}
				return nil, errgrpc.ToGRPC(cause)
			}})
			if res, err := r.Run(ctx, s); err != nil || res.ExitCode != 3 {
				t.Errorf("one that began: %+v, %v", res, err)
			}
			without()
			nothingLeft(t, r)
			without = withFaults(t, r, faultyTasks{start: func(func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error) {
				return nil, errgrpc.ToGRPC(cause)
			}})
			s.Kind = runner.Query
			if _, err := r.Run(ctx, s); err == nil {
				t.Error("a query that never began has an outcome")
			}
			nothingLeft(t, r)
			s.Kind, s.ID = runner.Action, "cut/1"
			_, err := r.Run(ctx, s)
			without()
			var unknown *runner.UnknownError
			if !errors.As(err, &unknown) || errors.Is(err, cause) && cause != errdefs.ErrUnavailable {
				t.Fatalf("got %v", err)
			}
			if _, err := r.conn.Client.ContainerService().Get(r.conn.Context(ctx), unknown.Container); err != nil {
				t.Errorf("it was removed: %v", err)
			}
			// This client does not look after it any more, and may adopt it itself.
			adopting, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if out, err := r.Adopt(adopting, s.ID, runner.Watch{}); err != nil || out.Fate != runner.NotBegun {
				t.Errorf("adopted: %+v, %v", out, err)
			}
			nothingLeft(t, r)
		})
	}
}

// A refusal is no doubt: the program has not run, and nothing is left.
func TestStart_ARefusalMeansThatNothingRan(t *testing.T) {
	t.Parallel()
	r := open(t, ownDaemon(t))
	dgst := packProbe(t, r)
	without := withFaults(t, r, faultyTasks{start: func(func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error) {
		return nil, errgrpc.ToGRPC(errdefs.ErrFailedPrecondition)
	}})
	_, err := r.Run(context.Background(), runner.Spec{Name: "x", Kind: runner.Action, Digest: dgst, Args: []string{"argv"}})
	without()
	wantDiagnostic(t, err, "did not start")
	nothingLeft(t, r)
}

// A shim may die when it has started the program, before the daemon has answered. That
// answer is no refusal: the program has begun, and nobody knows how far it came.
func TestStart_ShimDiesBehindIt(t *testing.T) {
	t.Parallel()
	for _, said := range []error{errdefs.ErrNotFound, errdefs.ErrUnknown.WithMessage("ttrpc: closed")} {
		t.Run(said.Error(), func(t *testing.T) {
			t.Parallel()
			o := embedded(t)
			r := open(t, o)
			dgst := packProbe(t, r)
			ctx := context.Background()
			without := withFaults(t, r, faultyTasks{start: func(really func() (*taskapi.StartResponse, error)) (*taskapi.StartResponse, error) {
				if _, err := really(); err != nil {
					t.Error(err)
				}
				for _, process := range shimsOf(o) {
					if n, err := strconv.Atoi(filepath.Base(process)); err != nil || unix.Kill(n, unix.SIGKILL) != nil {
						t.Errorf("shim %s was not killed", process)
					}
				}
				eventually(t, "the daemon knows that the shim is gone", func() bool {
					list, err := r.conn.Client.TaskService().List(r.conn.Context(ctx), &taskapi.ListTasksRequest{})
					return err == nil && len(list.Tasks) == 0
				})
				return nil, errgrpc.ToGRPC(said)
			}})
			s := runner.Spec{Name: "x", ID: "begun/1", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh", Args: []string{"-c", "sleep 60"}}
			_, err := r.Run(ctx, s)
			without()
			var unknown *runner.UnknownError
			if !errors.As(err, &unknown) {
				t.Fatalf("got %v", err)
			}
			if out, err := r.Adopt(ctx, s.ID, runner.Watch{}); err != nil || out.Fate != runner.Unknown {
				t.Errorf("adopted: %+v, %v", out, err)
			}
			nothingLeft(t, r)
		})
	}
}

// Each loss of a daemon has its own time to come back in.
func TestDaemon_IsLostAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, losses := &Runtime{warn: func(*diag.Diagnostic) {}, conn: &daemon.Conn{ComeBack: func(context.Context) error { return nil }}}, 0
		lost := errgrpc.ToGRPC(errdefs.ErrUnavailable)
		c, err := client.New("", client.WithServices(client.WithTaskClient(faultyTasks{wait: func() (*taskapi.WaitResponse, error) {
			if losses++; losses > 5 {
				return &taskapi.WaitResponse{ExitStatus: 7, ExitedAt: protobuf.ToTimestamp(time.Now())}, nil
			}
			time.Sleep(time.Hour)
			return nil, lost
		}})))
		if err != nil {
			t.Fatal(err)
		}
		r.conn.Client = c
		if e := <-(&container{r: r}).wait(t.Context()); e.Err != nil || e.Code != 7 {
			t.Errorf("got %+v", e)
		}
		r.conn.Client, err = client.New("", client.WithServices(client.WithTaskClient(faultyTasks{wait: func() (*taskapi.WaitResponse, error) { return nil, lost }})))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if e := <-(&container{r: r}).wait(t.Context()); !errdefs.IsUnavailable(e.Err) {
			t.Errorf("got %+v", e)
		}
		if took := time.Since(start); took < daemon.ReconnectLimit || took > daemon.ReconnectLimit+time.Second {
			t.Errorf("it gave up after %s", took)
		}
	})
}
