package app_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/app"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// The types of images that come with deployster are queried while the hosts are being connected, and once.
// A host gets such an image as soon as it is connected, once too.
func TestEngine_QueriesTypesBeforeHostsAnswer(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "10.0.0.1")
	var inits, received atomic.Int32
	queried, there := make(chan struct{}), make(chan struct{})
	signal, arrive := sync.OnceFunc(func() { close(queried) }), sync.OnceFunc(func() { close(there) })
	n.machines["10.0.0.1"].received = func() { received.Add(1); arrive() }
	program := func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 {
			inits.Add(1)
			signal()
			select {
			case <-there:
			case <-time.After(30 * time.Second):
				t.Error("the image is not sent before its type is known")
			}
		}
		return n.here.world.Program(ctx, s, stdin, stdout, stderr)
	}
	n.here.Add("deployster/machine#thing", program)
	n.machines["10.0.0.1"].Add("deployster/machine#thing", n.machines["10.0.0.1"].world.Program)
	manifest := "host \"web\" { address = \"10.0.0.1\" }\nresource \"a\" {\n  type = \"deployster/machine#thing\"\n  host = host.web\n" +
		"  config = { name = \"a\" }\n}\n"
	if err := os.WriteFile(filepath.Join(n.dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	e := app.New(app.Options{Workspace: workspace.Options{Dir: n.dir, Home: n.dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return n.here, nil },
		Dial: func(ctx context.Context, h runner.Host, as remote.Hello) (*remote.Client, error) {
			select {
			case <-queried:
				return n.dial(ctx, h, as)
			case <-time.After(30 * time.Second):
				return nil, errors.New("no type was queried by now")
			}
		}})
	t.Cleanup(e.Close)
	p, err := e.Plan(t.Context(), app.PlanOptions{HostOptions: app.HostOptions{FailUnreachable: true}})
	if err != nil || len(p.Resources) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if inits, received := inits.Load(), received.Load(); inits != 1 || received != 1 {
		t.Errorf("%d inits, and the image was received %d times", inits, received)
	}
}
