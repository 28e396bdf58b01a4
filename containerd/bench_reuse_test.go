package containerd

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// BenchmarkReuse compares queries that share containers with those that have
// one each, in turns: so many batches of 24.
func BenchmarkReuse(b *testing.B) {
	for _, parallel := range benchmarkParallel() {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			r := open(b, embedded(b))
			dgst := pack(b, r, imagestore.PackOptions{Entrypoint: []string{"/bin/cat"}}, nil)
			times := map[bool][]time.Duration{}
			batch := func(reuse bool) time.Duration {
				size := 24
				if testing.Short() {
					size = parallel
				}
				start := time.Now()
				var wg sync.WaitGroup
				for range parallel {
					wg.Go(func() {
						for range size / parallel {
							s := runner.Spec{Name: "bench", Kind: runner.Query, Digest: dgst, Stdin: []byte("some input\n"), MaxStdout: 1 << 20, Reuse: reuse}
							if res, err := r.Run(context.Background(), s); err != nil || string(res.Stdout) != "some input\n" {
								b.Error(string(res.Stdout), err)
							}
						}
					})
				}
				wg.Wait()
				return time.Since(start) / time.Duration(size)
			}
			batch(false)
			batch(true)
			for i := 0; b.Loop(); i++ {
				for _, reuse := range []bool{i%2 == 0, i%2 != 0} {
					times[reuse] = append(times[reuse], batch(reuse))
				}
			}
			b.ReportMetric(report(b, "cold", times[false])/report(b, "reuse", times[true]), "times-faster")
			if err := r.closeIdle(); err != nil {
				b.Error(err)
			}
			nothingLeft(b, r)
		})
	}
}

// BenchmarkSingle compares one run with `ctr run --rm` of the same image in the
// same server, in turns.
func BenchmarkSingle(b *testing.B) {
	r := open(b, embedded(b))
	dgst := pack(b, r, imagestore.PackOptions{Entrypoint: []string{"/bin/true"}}, nil)
	times := map[string][]time.Duration{}
	n := 0
	ways := map[string]func() error{
		"run": func() error {
			_, err := r.Run(context.Background(), runner.Spec{Name: "bench", Kind: runner.Query, Digest: dgst})
			return err
		},
		"ctr": func() error {
			n++
			out, err := exec.Command("ctr", "-a", r.conn.Socket, "-n", r.conn.Config.Namespace, "run", "--rm", "--snapshotter", r.conn.Snapshotter, "--runc-binary", r.conn.Runc,
				"--runc-root", r.conn.Config.RuntimeDir+"/runc", "docker.io/test/busybox:1", fmt.Sprintf("ctr-%d", n)).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			return err
		},
	}
	turn := func(name string) {
		start := time.Now()
		if err := ways[name](); err != nil {
			b.Fatal(name, err)
		}
		times[name] = append(times[name], time.Since(start))
	}
	turn("run")
	turn("ctr")
	clear(times)
	for i := 0; b.Loop(); i++ {
		order := []string{"run", "ctr"}
		turn(order[i%2])
		turn(order[1-i%2])
	}
	b.ReportMetric(report(b, "run", times["run"])/report(b, "ctr", times["ctr"]), "median-ratio")
}
