package containerd

import (
	"context"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// BenchmarkSandbox compares what parts of the sandbox cost a run, in turns.
func BenchmarkSandbox(b *testing.B) {
	r := open(b, embedded(b))
	dgst := pack(b, r, imagestore.PackOptions{Entrypoint: []string{"/bin/true"}}, nil)
	plugs := []runner.Mount{{Source: b.TempDir(), Target: "/a", Writable: true}, {Source: b.TempDir(), Target: "/b"}}
	kinds := []string{"plain", "plugs", "userns", "userns-plugs"}
	times := map[string][]time.Duration{}
	one := func(kind string) {
		s := runner.Spec{Name: kind, Kind: runner.Query, Digest: dgst}
		if kind == "plugs" || kind == "userns-plugs" {
			s.Mounts = plugs
		}
		if kind == "userns" || kind == "userns-plugs" {
			s.Settings.UserNS = runner.AutoUserNS
		}
		start := time.Now()
		if _, err := r.Run(context.Background(), s); err != nil {
			b.Fatal(err)
		}
		times[kind] = append(times[kind], time.Since(start))
	}
	for _, kind := range kinds {
		one(kind)
		times[kind] = nil
	}
	for b.Loop() {
		for _, kind := range kinds {
			one(kind)
		}
	}
	for _, kind := range kinds {
		report(b, kind, times[kind])
	}
	nothingLeft(b, r)
}
