package repairs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/watchclient"
	"deployster/protocol"
)

// answersAll is a worker that watches whatever is requested, without a goroutine for each.
func answersAll(_ context.Context, _ runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	for in := bufio.NewScanner(stdin); in.Scan(); {
		var r protocol.WorkerRequest
		if json.Unmarshal(in.Bytes(), &r) != nil {
			return 2
		}
		answer := `"stdout":"{}\n"`
		if r.Cancel {
			answer = `"exit":143`
		}
		_, _ = fmt.Fprintf(stdout, "{\"id\":%d,%s}\n", r.ID, answer)
	}
	return 0
}

// A resource that a worker watches waits with a stack of 4 KiB, whatever was done before it waits, and needs one goroutine.
func TestWatchSource_WaitsWithASmallStack(t *testing.T) {
	const many = 1000
	dir, fake := t.TempDir(), runnertest.NewFake()
	digest := fake.Add("all", answersAll)
	client := watchclient.New(watchclient.Options{Launcher: fake})
	defer client.Close()
	source := repairs.WatchSource{Client: client, Request: func(_ context.Context, addr string) (*watchclient.Request, error) {
		return &watchclient.Request{Address: addr, Reference: "all", Spec: runner.Spec{Name: addr, Digest: digest, Args: []string{"watch"},
			Stdin: []byte("{\"name\":\"" + addr + "\"}\n"), Worker: &runner.Worker{Digest: digest, Args: []string{"worker"}}}}, nil
	}}
	g := watch.Generation{Looker: files{dir}, Repairer: files{dir}, Source: source}
	for i := range many {
		g.Resources = append(g.Resources, watch.Resource{Address: fmt.Sprint("r", i), Lane: "all", Watched: true})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	generations, live := make(chan watch.Generation, 1), make(chan struct{}, many)
	generations <- g
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch.Run(ctx, watch.Options{}, generations, func(told watch.Event) {
			if p, ok := told.(watch.Process); ok && p.Running {
				live <- struct{}{}
			}
		})
	}()
	late := time.After(time.Minute)
	for range many {
		select {
		case <-live:
		case <-late:
			t.Fatal("it does not watch")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (int64(after.StackInuse) - int64(before.StackInuse)) / many; got > 6<<10 {
		t.Errorf("%d bytes of stack for each resource", got)
	}
	if got := runtime.NumGoroutine() - goroutines; got > many+100 {
		t.Errorf("%d goroutines for %d resources", got, many)
	}
	stop()
	<-done
}
