package repairs_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/plan/drift"
	"deployster/protocol"
	"deployster/protocol/dirwatch"
)

// notes is a type whose things are files in a directory of this host.
type notes struct {
	dir   string
	files dirwatch.Watcher
}

type note struct {
	Name string `json:"name"`
}

type noteCall = protocol.Call[note, note]

func (n *notes) path(c *noteCall) string                            { return filepath.Join(n.dir, c.Config.Name) }
func (n *notes) Read(_ context.Context, c *noteCall) (*note, error) { return nil, nil }
func (n *notes) Write(context.Context, *noteCall) error             { return nil }
func (n *notes) Watch(ctx context.Context, c *noteCall, tell func(string)) error {
	return n.files.Watch(ctx, n.path(c), tell)
}

// files is the world of the test: what is there is right.
type files struct{ dir string }

func (f files) Look(_ context.Context, addr string) (watch.Look, error) {
	if _, err := os.Stat(filepath.Join(f.dir, addr)); err != nil {
		return watch.Look{Status: drift.Gone, Found: "gone"}, nil
	}
	return watch.Look{Status: drift.None}, nil
}

func (f files) Repair(_ context.Context, addrs []string) (map[string]watch.Outcome, error) {
	out := map[string]watch.Outcome{}
	for _, addr := range addrs {
		out[addr] = watch.Repaired
		if os.WriteFile(filepath.Join(f.dir, addr), nil, 0o600) != nil {
			out[addr] = watch.Failed
		}
	}
	return out, nil
}

// What a type tells is looked at and repaired at once, though nothing is polled.
func TestWatchSource_BringsEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fake := runnertest.NewFake()
	digest := fake.Add("notes", func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		return protocol.Run(ctx, &notes{dir: dir}, protocol.About{Worker: true}, protocol.Process{Args: s.Args, Stdin: stdin, Stdout: stdout, Stderr: stderr})
	})
	client := watchclient.New(watchclient.Options{Launcher: fake})
	defer client.Close()
	source := repairs.WatchSource{Client: client, Request: func(_ context.Context, addr string) (*watchclient.Request, error) {
		return &watchclient.Request{Address: addr, Reference: "notes", Spec: runner.Spec{Name: addr, Digest: digest, Args: []string{"watch"},
			Stdin: []byte(`{"config":{"name":"` + addr + `"}}`), Worker: &runner.Worker{Digest: digest, Args: []string{"worker"}}}}, nil
	}}
	g := watch.Generation{Looker: files{dir}, Repairer: files{dir}, Source: source}
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		g.Resources = append(g.Resources, watch.Resource{Address: name, Lane: "notes", Watched: true, Repair: true})
	}
	generations := make(chan watch.Generation, 1)
	generations <- g
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	live, why := map[string]bool{}, map[string]watch.Why{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch.Run(ctx, watch.Options{}, generations, func(told watch.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch told := told.(type) {
			case watch.Process:
				live[told.Address] = told.Running
			case watch.Finding:
				if told.Look.Status == drift.Gone {
					why[told.Address] = told.Why
				}
			}
		})
	}()
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain until %s", what)
			}
		}
	}
	await("all are watched", func() bool { mu.Lock(); defer mu.Unlock(); return live["a"] && live["b"] && live["c"] })
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	await("b is there again", func() bool { _, err := os.Stat(filepath.Join(dir, "b")); return err == nil })
	await("it is told why", func() bool { mu.Lock(); defer mu.Unlock(); return why["b"] == watch.ByEvent })
	stop()
	<-done
	mu.Lock()
	defer mu.Unlock()
	if len(why) != 1 {
		t.Errorf("%v", why)
	}
}

// A resource for which there is no process any more is polled, and not asked for each
// second.
func TestWatchSource_ReportsWhoIsPolled(t *testing.T) {
	t.Parallel()
	fake := runnertest.NewFake()
	digest := fake.Add("one", func(_ context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		_, _ = io.WriteString(stdout, "{}\n")
		_, _ = io.Copy(io.Discard, stdin)
		return 0
	})
	client := watchclient.New(watchclient.Options{Launcher: fake, Max: 1})
	defer client.Close()
	source := repairs.WatchSource{Client: client, Request: func(_ context.Context, addr string) (*watchclient.Request, error) {
		return &watchclient.Request{Address: addr, Reference: "one", Spec: runner.Spec{Name: addr, Digest: digest, Args: []string{"watch"}}}, nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	first, end := make(chan struct{}), make(chan error, 1)
	go func() {
		end <- source.Watch(ctx, "a", func(e watch.SourceEvent) {
			if e.First {
				close(first)
			}
		})
	}()
	<-first
	if err := source.Watch(ctx, "b", func(watch.SourceEvent) {}); !errors.Is(err, watch.ErrPolled) {
		t.Error(err)
	}
	stop()
	<-end
}
