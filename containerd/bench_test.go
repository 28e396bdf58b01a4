package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// report returns the median and the spread of times, in milliseconds; it returns
// the median.
func report(b *testing.B, name string, times []time.Duration) float64 {
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(ms(times[len(times)/2]), name+"-median-ms")
	b.ReportMetric(ms(times[len(times)*9/10]), name+"-p90-ms")
	b.ReportMetric(ms(times[len(times)-1]), name+"-max-ms")
	return ms(times[len(times)/2])
}

// BenchmarkColdBoot is Open without a server and without data.
func BenchmarkColdBoot(b *testing.B) {
	var times []time.Duration
	for b.Loop() {
		b.StopTimer()
		dir, err := os.MkdirTemp("", "boot")
		if err != nil {
			b.Fatal(err)
		}
		o, err := Options{DataDir: dir, Runc: newEnoughRunc(b)}.withDefaults()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		start := time.Now()
		r, err := Open(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
		b.StopTimer()
		if err := r.Close(); err != nil {
			b.Error(err)
		}
		endServer(b, o)
		os.RemoveAll(dir)
		b.StartTimer()
	}
	report(b, "open", times)
}

// bare does what Run does as a plain client of containerd would: the same
// image, snapshotter, confinement and standard files.
type bare struct {
	r     *Runtime
	image client.Image
	dir   string
}

func newBare(b *testing.B, r *Runtime, dgst string) *bare {
	ctx := r.conn.Context(context.Background())
	image, err := r.conn.Client.GetImage(ctx, dgst)
	if err != nil {
		b.Fatal(err)
	}
	return &bare{r: r, image: image, dir: b.TempDir()}
}

// plainFiles is the cio.IO of three files.
type plainFiles struct{ config cio.Config }

func (p plainFiles) Config() cio.Config { return p.config }
func (p plainFiles) Cancel()            {}
func (p plainFiles) Wait()              {}
func (p plainFiles) Close() error       { return nil }

func (p *bare) run(stdin []byte) (stdout []byte, err error) {
	ctx := p.r.conn.Context(context.Background())
	id := layout.NewID()
	dir := filepath.Join(p.dir, id)
	files := cio.Config{Stdin: dir + "/stdin", Stdout: dir + "/stdout", Stderr: dir + "/stderr"}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string][]byte{files.Stdin: stdin, files.Stdout: nil, files.Stderr: nil} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return nil, err
		}
	}
	c, err := p.r.conn.Client.NewContainer(ctx, id,
		client.WithSnapshotter(p.r.conn.Snapshotter),
		client.WithNewSnapshot(id, p.image),
		client.WithNewSpec(oci.WithImageConfig(p.image), oci.WithHostNamespace(specs.NetworkNamespace), oci.WithHostHostsFile, oci.WithHostResolvconf, seccomp.WithDefaultProfile()),
		client.WithRuntime(shim.Runtime, &options.Options{BinaryName: p.r.conn.Runc, Root: p.r.conn.Config.RuntimeDir + "/runc"}))
	if err != nil {
		return nil, err
	}
	task, err := c.NewTask(ctx, func(string) (cio.IO, error) { return plainFiles{files}, nil })
	if err != nil {
		return nil, err
	}
	exit, err := task.Wait(ctx)
	if err != nil {
		return nil, err
	}
	if err := task.Start(ctx); err != nil {
		return nil, err
	}
	if s := <-exit; s.Error() != nil || s.ExitCode() != 0 {
		return nil, fmt.Errorf("exit %d, %v", s.ExitCode(), s.Error())
	}
	if _, err := task.Delete(ctx); err != nil {
		return nil, err
	}
	if err := c.Delete(ctx, client.WithSnapshotCleanup); err != nil {
		return nil, err
	}
	return os.ReadFile(files.Stdout)
}

// benchmarkParallel are the numbers of concurrent runs to measure with, or one for -short,
// which checks that each benchmark still runs.
func benchmarkParallel() []int {
	if testing.Short() {
		return []int{1}
	}
	return []int{1, 8}
}

// BenchmarkRun compares Run with the bare loop, in turns. The ratio is that of
// the times for all runs, and median-ratio that of the medians, which a busy
// machine disturbs less: below 1, Run is the faster.
func BenchmarkRun(b *testing.B) {
	for _, parallel := range benchmarkParallel() {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			r := open(b, embedded(b))
			dgst := pack(b, r, imagestore.PackOptions{Entrypoint: []string{"/bin/cat"}}, nil)
			plain := newBare(b, r, dgst)
			in := []byte("some input\n")
			ours := func() error {
				res, err := r.Run(context.Background(), runner.Spec{Name: "bench", Kind: runner.Query, Digest: dgst, Stdin: in, MaxStdout: 1 << 20})
				if err == nil && string(res.Stdout) != string(in) {
					err = fmt.Errorf("got %q", res.Stdout)
				}
				return err
			}
			theirs := func() error {
				stdout, err := plain.run(in)
				if err == nil && string(stdout) != string(in) {
					err = fmt.Errorf("got %q", stdout)
				}
				return err
			}
			times := map[string][]time.Duration{}
			total := map[string]time.Duration{}
			batch := func(name string, f func() error) {
				start := time.Now()
				var wg sync.WaitGroup
				for range parallel {
					wg.Go(func() {
						if err := f(); err != nil {
							b.Error(name, err)
						}
					})
				}
				wg.Wait()
				d := time.Since(start) / time.Duration(parallel)
				times[name] = append(times[name], d)
				total[name] += d
			}
			batch("warm", ours)
			batch("warm", theirs)
			for i := 0; b.Loop(); i++ {
				// Who is first changes, so that neither always follows the other.
				if i%2 == 0 {
					batch("run", ours)
					batch("bare", theirs)
				} else {
					batch("bare", theirs)
					batch("run", ours)
				}
			}
			b.ReportMetric(report(b, "run", times["run"])/report(b, "bare", times["bare"]), "median-ratio")
			b.ReportMetric(float64(total["run"])/float64(total["bare"]), "ratio")
			nothingLeft(b, r)
		})
	}
}
